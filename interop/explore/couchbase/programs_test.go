package couchbase

import (
	"errors"
	"slices"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	explore "github.com/holdfast-db/holdfast/explore/couchbase"
)

// patience is the time of one operation: longer than an outage.
const patience = 10 * time.Second

// connect returns the documents of the run's cluster, by gocb, which has no dialer.
func connect(e *explore.Exploration) *gocb.Collection {
	client, err := gocb.Connect(e.ConnectionString(), gocb.ClusterOptions{
		Username: e.Username(), Password: e.Password(), TimeoutsConfig: gocb.TimeoutsConfig{KVTimeout: patience},
	})
	if err != nil {
		e.Fatalf("%v", err)
	}
	e.Cleanup(func() { _ = client.Close(nil) })
	bucket := client.Bucket("default")
	err = bucket.WaitUntilReady(patience, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}})
	if err != nil {
		e.Fatalf("%v", err)
	}
	return bucket.DefaultCollection()
}

// visits is a document that knows whose visits it has counted.
type visits struct {
	Count int
	Of    []string
}

// countOnce counts the visit of a guest by check and set, and again after any error: a visit that is counted is there.
func countOnce(c *gocb.Collection, guest string) (err error) {
	for range 3 {
		if err = tryToCount(c, guest); err == nil {
			return nil
		}
	}
	return err
}

func tryToCount(c *gocb.Collection, guest string) error {
	found, err := c.Get("visits", nil)
	if errors.Is(err, gocb.ErrDocumentNotFound) {
		_, err = c.Insert("visits", visits{1, []string{guest}}, nil)
		return err
	}
	var now visits
	if err == nil {
		err = found.Content(&now)
	}
	if err != nil || slices.Contains(now.Of, guest) {
		return err
	}
	_, err = c.Replace("visits", visits{now.Count + 1, append(now.Of, guest)}, &gocb.ReplaceOptions{Cas: found.Cas()})
	return err
}

// countBlindly has a mistake: it increments again after any error.
func countBlindly(c *gocb.Collection) error {
	one := &gocb.IncrementOptions{Initial: 1, Delta: 1}
	_, err := c.Binary().Increment("visits", one)
	if err != nil {
		_, err = c.Binary().Increment("visits", one)
	}
	return err
}

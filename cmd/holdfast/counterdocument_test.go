package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// documentPatience is the time of one operation: longer than an outage.
const documentPatience = 10 * time.Second

// counterDocument is a counter that knows which increments it has.
type counterDocument struct {
	N    int
	Done []string
}

// countDocument does what count does, with a document of Couchbase. The bucket is an argument too.
func countDocument(way string) error {
	cluster, err := couchbase.Connect(os.Getenv("COUCHBASE_CONNSTR"), couchbase.ClusterOptions{
		Username: os.Getenv("COUCHBASE_USERNAME"), Password: os.Getenv("COUCHBASE_PASSWORD"),
		TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: documentPatience, KVDurableTimeout: documentPatience},
	})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Close(nil) }()
	bucket := "default"
	if len(os.Args) > 2 {
		bucket = os.Args[2]
	}
	c := cluster.Bucket(bucket).DefaultCollection()
	switch way {
	case "check":
		return checkDocument(c)
	case "blind":
		return incrementTwice(c)
	}
	return incrementOnce(c)
}

// incrementTwice has a mistake: it increments again after any error.
func incrementTwice(c *couchbase.Collection) error {
	one := &couchbase.IncrementOptions{Initial: 1, Delta: 1}
	_, err := c.Binary().Increment("number", one)
	if err != nil {
		fmt.Println("counter: again after", err)
		_, err = c.Binary().Increment("number", one)
	}
	return err
}

// incrementOnce adds one unless that is done, by check and set, so that it may try again after any error.
func incrementOnce(c *couchbase.Collection) (err error) {
	for range 4 {
		if err = tryIncrement(c); err == nil {
			return nil
		}
	}
	return err
}

func tryIncrement(c *couchbase.Collection) error {
	var now counterDocument
	found, err := c.Get("c", nil)
	if errors.Is(err, couchbase.ErrDocumentNotFound) {
		_, err = c.Insert("c", counterDocument{N: 1, Done: []string{"first"}}, nil)
		return err
	}
	if err == nil {
		err = found.Content(&now)
	}
	if err != nil || slices.Contains(now.Done, "first") {
		return err
	}
	now.N, now.Done = now.N+1, append(now.Done, "first")
	_, err = c.Replace("c", now, &couchbase.ReplaceOptions{Cas: found.Cas()})
	return err
}

// checkDocument returns an error if a counter is above one, or if none is there although the program ended well.
func checkDocument(c *couchbase.Collection) error {
	var n int
	var d counterDocument
	for key, value := range map[string]any{"number": &n, "c": &d} {
		found, err := c.Get(key, nil)
		if errors.Is(err, couchbase.ErrDocumentNotFound) {
			continue
		}
		if err == nil {
			err = found.Content(value)
		}
		if err != nil {
			return err
		}
	}
	code := os.Getenv("HOLDFAST_EXIT_CODE")
	switch sum := n + d.N; {
	case sum > 1:
		return errors.New("the counter was incremented twice, after exit code " + code)
	case sum == 0 && code == "0":
		return errors.New("the counter was not incremented")
	}
	return nil
}

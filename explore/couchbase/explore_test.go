package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
)

// cluster returns a client of the run's cluster. It logs in with PLAIN, since SCRAM is slow on purpose.
func cluster(e *explore.Exploration) *couchbase.Cluster {
	e.Helper()
	client, err := couchbase.Open(e.ConnectionString(), couchbase.Config{Dial: e.Dialer().DialContext}, couchbase.ClusterOptions{
		Authenticator:  couchbase.PasswordAuthenticator{Username: e.Username(), Password: e.Password()},
		TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: 7 * time.Second}, // for a busy machine
		SecurityConfig: couchbase.SecurityConfig{AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}},
	})
	if err != nil {
		e.Fatalf("connect: %v", err)
	}
	e.Cleanup(func() { _ = client.Close(nil) })
	return client
}

func connect(e *explore.Exploration) *couchbase.Collection {
	return cluster(e).Bucket("default").DefaultCollection()
}

// increment adds one to the counter.
func increment(ctx context.Context, c *couchbase.Collection) error {
	_, err := c.Binary().Increment("c", &couchbase.IncrementOptions{Initial: 1, Delta: 1, Context: ctx})
	return err
}

// extend appends a letter to the text.
func extend(ctx context.Context, c *couchbase.Collection) error {
	_, err := c.Binary().Append("text", []byte("x"), &couchbase.AppendOptions{Context: ctx})
	return err
}

// counter is a document that knows which additions it has.
type counter struct {
	N    int
	Done []string
}

const majority = couchbase.DurabilityLevelMajority

// addOnce adds one to the counter unless it has the addition. It tries again after any error, for it does no harm.
func addOnce(ctx context.Context, c *couchbase.Collection, addition string) (err error) {
	for range 4 {
		if err = tryToAdd(ctx, c, addition); err == nil {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func tryToAdd(ctx context.Context, c *couchbase.Collection, addition string) error {
	now, cas, err := read(ctx, c)
	if err != nil || slices.Contains(now.Done, addition) {
		return err
	}
	now.N, now.Done = now.N+1, append(now.Done, addition)
	_, err = c.Replace("c", now, &couchbase.ReplaceOptions{Cas: cas, Context: ctx, DurabilityLevel: majority})
	return err
}

func read(ctx context.Context, c *couchbase.Collection) (now counter, cas couchbase.Cas, err error) {
	found, err := c.Get("c", &couchbase.GetOptions{Context: ctx})
	if err != nil {
		return now, 0, err
	}
	return now, found.Cas(), found.Content(&now)
}

// mended adds to a counter by check and set.
func mended(e *explore.Exploration) {
	c := connect(e)
	if _, err := c.Insert("c", counter{}, &couchbase.InsertOptions{Context: e.Context(), DurabilityLevel: majority}); err != nil {
		e.Logf("Insert returned %v", err)
		return
	}
	err := addOnce(e.Context(), c, "first")
	e.Logf("addOnce returned %v", err)
	e.Check(func() error {
		now, _, err2 := read(e.Context(), c)
		if err2 == nil && (now.N > 1 || err == nil && now.N != 1) {
			err2 = fmt.Errorf("the counter is %d", now.N)
		}
		return err2
	})
}

// incrementBlindly has a mistake: it tries again after any error.
func incrementBlindly(e *explore.Exploration) {
	c := connect(e)
	err := increment(e.Context(), c)
	if err != nil {
		err = increment(e.Context(), c)
	}
	e.Logf("increment returned %v", err)
	e.Check(func() error {
		result, err := c.Get("c", &couchbase.GetOptions{Transcoder: couchbase.NewRawJSONTranscoder()})
		if errors.Is(err, couchbase.ErrDocumentNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var text []byte
		if err = result.Content(&text); err == nil && string(text) != "1" {
			err = fmt.Errorf("the counter is %s", text)
		}
		return err
	})
}

// appendBlindly has the same mistake.
func appendBlindly(e *explore.Exploration) {
	binary := &couchbase.UpsertOptions{Transcoder: couchbase.NewRawBinaryTranscoder()}
	c := connect(e)
	if _, err := c.Upsert("text", []byte("begin:"), binary); err != nil {
		return
	}
	err := extend(e.Context(), c)
	if err != nil {
		err = extend(e.Context(), c)
	}
	e.Logf("extend returned %v", err)
	e.Check(func() error {
		if d, _ := e.Cluster().Document("default", "text"); len(d.Value) > len("begin:x") {
			return fmt.Errorf("the text is %s", d.Value)
		}
		return nil
	})
}

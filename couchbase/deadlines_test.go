package couchbase_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// rowsOf are the results of the four services, as far as this test needs them.
type rowsOf interface {
	Next() bool
	Err() error
	Close() error
}

// statements run a request of each service that returns rows, with a timeout or with a context's deadline.
var statements = []struct {
	service couchbasetest.Service
	run     func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error)
}{
	{couchbasetest.Query, func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error) {
		r, err := c.Query("SELECT 1", &couchbase.QueryOptions{Adhoc: true, Readonly: true, Context: ctx, Timeout: timeout})
		return rowsIf(r, err)
	}},
	{couchbasetest.Query, func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error) {
		r, err := c.Query("SELECT 1", &couchbase.QueryOptions{Readonly: true, Context: ctx, Timeout: timeout})
		return rowsIf(r, err)
	}},
	{couchbasetest.Analytics, func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error) {
		r, err := c.AnalyticsQuery("SELECT 1", &couchbase.AnalyticsOptions{Readonly: true, Context: ctx, Timeout: timeout})
		return rowsIf(r, err)
	}},
	{couchbasetest.Search, func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error) {
		r, err := c.SearchQuery("i", search.NewMatchAllQuery(), &couchbase.SearchOptions{Context: ctx, Timeout: timeout})
		return rowsIf(r, err)
	}},
	{couchbasetest.Views, func(c *couchbase.Cluster, ctx context.Context, timeout time.Duration) (rowsOf, error) {
		r, err := c.Bucket("default").ViewQuery("d", "v", &couchbase.ViewOptions{Context: ctx, Timeout: timeout})
		return rowsIf(r, err)
	}},
}

func rowsIf[R rowsOf](r R, err error) (rowsOf, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// The kind of an error does not depend on where the deadline falls: it moves across the whole operation in small steps.
func TestADeadlineIsATimeoutWhereverItFalls(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		if err := client.Bucket("default").WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{"id": "a", "key": 1, "value": 2}
		for _, s := range statements {
			answering(server, s.service, couchbasetest.HTTPAnswer{Rows: []any{row, row, row}, Delay: 5 * time.Millisecond, RowDelay: 5 * time.Millisecond})
			succeeded, timedOut := 0, 0
			for step := range 120 {
				after := time.Duration(step) * 250 * time.Microsecond
				for _, byContext := range []bool{false, true} {
					ctx, cancel, timeout := context.Background(), context.CancelFunc(func() {}), after+1
					if byContext {
						timeout = time.Hour
						ctx, cancel = context.WithTimeout(ctx, after+1)
					}
					rows, err := s.run(client, ctx, timeout)
					if err == nil {
						for rows.Next() {
						}
						err = rows.Close()
					}
					cancel()
					switch {
					case err == nil:
						succeeded++
					case errors.Is(err, couchbase.ErrTimeout):
						timedOut++
					default:
						t.Errorf("%v, by its context: %t, a deadline after %v: %v", s.service, byContext, after, err)
					}
				}
			}
			if succeeded == 0 || timedOut == 0 {
				t.Errorf("%v: %d succeeded, %d timed out", s.service, succeeded, timedOut)
			}
		}
	}, couchbasetest.Latency(500*time.Microsecond, time.Millisecond))
}

package couchbase_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestBulkOperations(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		if err := c.Do(nil, nil); err != nil {
			t.Errorf("no operations: %v", err)
		}
		upsert := &couchbase.UpsertOp{ID: "a", Value: 1}
		for name, ops := range map[string][]couchbase.BulkOp{
			"nil":           {upsert, nil},
			"a nil pointer": {upsert, (*couchbase.GetOp)(nil)},
		} {
			if err := c.Do(ops, nil); !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), "ops[1]") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if upsert.Result != nil {
			t.Error("an operation ran")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Do([]couchbase.BulkOp{upsert}, &couchbase.BulkOpOptions{Context: ctx}); err != nil || !errors.Is(upsert.Err, couchbase.ErrRequestCanceled) {
			t.Errorf("a context that has ended: %v %v", err, upsert.Err)
		}
		negative := &couchbase.IncrementOp{ID: "n", Delta: -1}
		if err := c.Do([]couchbase.BulkOp{negative}, nil); err != nil || !errors.Is(negative.Err, couchbase.ErrInvalidArgument) {
			t.Errorf("a negative delta: %v %v", err, negative.Err)
		}
	})
}

// The application may recover the panic of its own code, as it can in a single operation: it must not end the process.
func TestAPanicInABulkOperationReachesItsCaller(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		ops := []couchbase.BulkOp{&couchbase.UpsertOp{ID: "a", Value: 1}, &couchbase.UpsertOp{ID: "b", Value: 1}}
		defer func() {
			if v := recover(); v != "a panic of the application" {
				t.Errorf("recovered %v", v)
			}
		}()
		err := c.Do(ops, &couchbase.BulkOpOptions{Transcoder: &panicking{}})
		t.Errorf("it returned %v", err)
	})
}

// As in gocb, the timeout of a Do is that of all its operations together, however many there are.
func TestTheTimeoutOfBulkOperations(t *testing.T) {
	for _, test := range []struct {
		timeout, ends time.Duration
	}{{time.Second, time.Second}, {0, 4 * 2500 * time.Millisecond}} {
		withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
			c := client.Bucket("default").DefaultCollection()
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			server.Pause(0)
			var ops []couchbase.BulkOp
			for range 200 {
				ops = append(ops, &couchbase.UpsertOp{ID: "a", Value: 1})
			}
			began := time.Now()
			if err := c.Do(ops, &couchbase.BulkOpOptions{Timeout: test.timeout}); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < test.ends || took > test.ends+time.Millisecond {
				t.Errorf("with %v it took %v", test.timeout, took)
			}
			ambiguous := 0
			for _, op := range ops {
				err := op.(*couchbase.UpsertOp).Err
				if !errors.Is(err, couchbase.ErrTimeout) {
					t.Errorf("%v", err)
				}
				if errors.Is(err, couchbase.ErrAmbiguousTimeout) {
					ambiguous++
				}
			}
			if test.timeout > 0 && ambiguous != 64 {
				t.Errorf("%d may have been applied, but 64 were sent", ambiguous)
			}
			server.Resume(0)
		})
	}
}

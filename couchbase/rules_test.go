package couchbase_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

func TestDurabilityThatTooFewNodesCanGive(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.ExistsResult](t)(c.Exists("a", nil))
		for _, level := range []couchbase.DurabilityLevel{
			couchbase.DurabilityLevelMajority, couchbase.DurabilityLevelMajorityAndPersistOnMaster, couchbase.DurabilityLevelPersistToMajority,
		} {
			began := time.Now()
			_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: level})
			if !errors.Is(err, couchbase.ErrDurabilityImpossible) || errors.Is(err, couchbase.ErrTimeout) || time.Since(began) != 0 {
				t.Errorf("level %d: %v after %v", level, err, time.Since(began))
			}
			var history *retry.Error
			if !errors.As(err, &history) || !history.OutcomeKnown() || history.Last().StopReason != retry.StopNotRetryable {
				t.Errorf("level %d: %v", level, history)
			}
		}
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("it was applied: %v", err)
		}
	}, couchbasetest.Nodes(1))
}

// Whatever ends an operation, all its spans end.
func TestSpansEndWhateverEndsTheirOperation(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		tracer := &spans{}
		client := connect(t, server, couchbase.ClusterOptions{Tracer: tracer})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for name, run := range map[string]func() error{
			"success":                 func() error { return second(c.Upsert("a", 1, nil)) },
			"a value that is no JSON": func() error { return second(c.Upsert("a", make(chan int), nil)) },
			"too many copies":         func() error { return second(c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 3})) },
			"too many copies, of a counter": func() error {
				return second(c.Binary().Increment("n", &couchbase.IncrementOptions{PersistTo: 4}))
			},
			"cancellation": func() error { return second(c.Get("a", &couchbase.GetOptions{Context: cancelled})) },
			"a refusal":    func() error { return second(c.Get("none", nil)) },
			"a ping":       func() error { return second(client.Ping(nil)) },
		} {
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			_ = run()
			tracer.mu.Lock()
			for _, s := range tracer.all {
				if !s.ended {
					t.Errorf("%s: the span %s did not end", name, s.name)
				}
			}
			tracer.all = nil
			tracer.mu.Unlock()
		}
	})
}

// A bucket that is removed and made again has other collections, whose version begins again at 0. Another collection may have the id now.
func TestCollectionsOfABucketThatIsMadeAgain(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		prepare := func(names ...string) {
			if err := server.CreateBucket(couchbasetest.Bucket{Name: "b"}); err != nil {
				t.Fatal(err)
			}
			must[uint64](t)(server.CreateScope("b", "s"))
			for _, name := range names {
				must[uint64](t)(server.CreateCollection("b", "s", couchbasetest.Collection{Name: name}))
			}
		}
		prepare("c", "d", "e", "f", "g", "other")
		c, d := client.Bucket("b").Scope("s").Collection("c"), client.Bucket("b").Scope("s").Collection("d")
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		must[*couchbase.MutationResult](t)(d.Upsert("a", 1, nil))
		if err := server.DropBucket("b"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		var waiting sync.WaitGroup
		for range 16 {
			waiting.Go(func() {
				if _, err := c.Upsert("waits", 1, &couchbase.UpsertOptions{Timeout: 10 * time.Second}); err != nil {
					t.Errorf("a write that waited: %v", err)
				}
			})
		}
		<-time.After(time.Second)
		prepare("other", "c")
		waiting.Wait()
		if _, found := server.DocumentIn("b", "s", "other", "waits"); found {
			t.Error("a write went to another collection")
		}
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := d.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond}); !errors.Is(err, couchbase.ErrCollectionNotFound) {
			t.Errorf("a collection that is not there any more: %v", err)
		}
	})
}

// Servers that accept only part of the features are used as far as they go.
func TestOlderServers(t *testing.T) {
	for _, version := range []string{"6.0", "6.5", "6.6", "7.0", "7.1", "7.2", "7.6"} {
		withCollection(t, func(t *testing.T, c *couchbase.Collection) {
			for _, op := range operations {
				if op.name != "Insert" {
					must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{Expiry: time.Hour}))
				}
				id := "a"
				if op.name == "Insert" {
					id = "new"
				}
				err := op.run(c, id, func(any) {})
				switch {
				case op.name == "LookupInAnyReplica" && version < "7.6":
					if !errors.Is(err, couchbase.ErrFeatureNotAvailable) {
						t.Errorf("%s, %s: %v", version, op.name, err)
					}
				case op.name == "Unlock": // it was not locked
					if !errors.Is(err, couchbase.ErrDocumentNotLocked) && !errors.Is(err, couchbase.ErrTemporaryFailure) {
						t.Errorf("%s, %s: %v", version, op.name, err)
					}
				case err != nil:
					t.Errorf("%s, %s: %v", version, op.name, err)
				}
				if op.name == "GetAndLock" {
					<-time.After(2 * time.Second)
				}
			}
			_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
			if version < "6.5" != errors.Is(err, couchbase.ErrFeatureNotAvailable) || version >= "6.5" && err != nil {
				t.Errorf("%s, a durable write: %v", version, err)
			}
			_, err = c.Upsert("a", 1, &couchbase.UpsertOptions{PreserveExpiry: true})
			if version < "7.0" != errors.Is(err, couchbase.ErrFeatureNotAvailable) || version >= "7.0" && err != nil {
				t.Errorf("%s, a preserved expiry: %v", version, err)
			}
		}, couchbasetest.Nodes(2), couchbasetest.Version(version))
	}
}

// Which timeout holds for an operation that is refused for ever.
func TestTimeoutsOfOperations(t *testing.T) {
	durable := couchbase.DurabilityLevelMajority
	for _, test := range []struct {
		name    string
		options couchbase.TimeoutsConfig
		upsert  couchbase.UpsertOptions
		want    time.Duration
	}{
		{"the default", couchbase.TimeoutsConfig{}, couchbase.UpsertOptions{}, 2500 * time.Millisecond},
		{"the default of a durable write", couchbase.TimeoutsConfig{}, couchbase.UpsertOptions{DurabilityLevel: durable}, 10 * time.Second},
		{"the cluster's", couchbase.TimeoutsConfig{KVTimeout: time.Second}, couchbase.UpsertOptions{}, time.Second},
		{"the cluster's of a durable write", couchbase.TimeoutsConfig{KVTimeout: time.Second, KVDurableTimeout: 3 * time.Second}, couchbase.UpsertOptions{DurabilityLevel: durable}, 3 * time.Second},
		{"the operation's", couchbase.TimeoutsConfig{KVTimeout: time.Second}, couchbase.UpsertOptions{Timeout: 4 * time.Second}, 4 * time.Second},
		{"the operation's of a durable write", couchbase.TimeoutsConfig{}, couchbase.UpsertOptions{Timeout: time.Second, DurabilityLevel: durable}, time.Second},
		{"a write whose copies are observed has that of a durable one", couchbase.TimeoutsConfig{}, couchbase.UpsertOptions{PersistTo: 1}, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
				client := connect(t, server, couchbase.ClusterOptions{TimeoutsConfig: test.options})
				defer client.Close(nil)
				server.Use(memd.OpSet, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
					return couchbasetest.Fault{Status: memd.StatusTemporaryFailure}
				}))
				began := time.Now()
				_, err := client.Bucket("default").DefaultCollection().Upsert("a", 1, &test.upsert)
				if took := time.Since(began); took != test.want || !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
					t.Errorf("%v after %v", err, took)
				}
			}, couchbasetest.Nodes(2))
		})
	}
}

// Each operation asks its own strategy, or that of the cluster.
func TestTheStrategyOfTheCluster(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		var asked atomic.Int64 // reads of replicas ask at once
		client := connect(t, server, couchbase.ClusterOptions{RetryStrategy: askedStrategy(func(couchbase.RetryReason) { asked.Add(1) })})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.ExistsResult](t)(c.Exists("a", nil))
		server.Use(couchbasetest.AnyOpcode, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
			return couchbasetest.Fault{Status: memd.StatusTemporaryFailure}
		}))
		for _, op := range operations {
			asked.Store(0)
			began := time.Now()
			if err := op.run(c, "a", func(any) {}); asked.Load() == 0 || !errors.Is(err, couchbase.ErrTemporaryFailure) || errors.Is(err, couchbase.ErrTimeout) || time.Since(began) != 0 {
				t.Errorf("%s: %v after %v, asked %d times", op.name, err, time.Since(began), asked.Load())
			}
			asked.Store(0)
			own := setField("RetryStrategy", couchbase.RetryStrategy(couchbase.NewBestEffortRetryStrategy(nil)))
			err := op.run(c, "a", func(o any) { own(o); setField("Timeout", 20*time.Millisecond)(o) })
			if asked.Load() != 0 || !errors.Is(err, couchbase.ErrTimeout) {
				t.Errorf("%s with a strategy of its own: %v, the cluster's was asked %d times", op.name, err, asked.Load())
			}
		}
	})
}

// What an error calls itself first, whatever else errors.Is finds in it.
func TestWhatAnErrorCallsItself(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		must[*couchbase.GetResult](t)(c.GetAndLock("a", 30*time.Second, nil))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		declines := askedStrategy(func(couchbase.RetryReason) {})
		for _, test := range []struct {
			says string
			err  error
			is   []error
		}{
			{"request canceled | ", second(c.Upsert("a", 1, &couchbase.UpsertOptions{Context: ctx})), []error{couchbase.ErrRequestCanceled, context.Canceled, couchbase.ErrDocumentLocked}},
			{"unambiguous timeout: document locked", second(c.Upsert("a", 1, &couchbase.UpsertOptions{Timeout: time.Millisecond})), []error{couchbase.ErrUnambiguousTimeout, couchbase.ErrTimeout, couchbase.ErrDocumentLocked}},
			{"document locked | ", second(c.Upsert("a", 1, &couchbase.UpsertOptions{RetryStrategy: declines})), []error{couchbase.ErrDocumentLocked}},
			{"cas mismatch | ", c.Unlock("a", 1, nil), []error{couchbase.ErrCasMismatch}},
			{"document not found | ", second(c.Binary().Append("none", nil, nil)), []error{couchbase.ErrDocumentNotFound}},
		} {
			if !strings.HasPrefix(test.err.Error(), test.says) {
				t.Errorf("it calls itself %v", test.err)
			}
			for _, want := range test.is {
				if !errors.Is(test.err, want) {
					t.Errorf("%v does not match %q", test.err, want)
				}
			}
		}
	})
}

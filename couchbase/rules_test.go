package couchbase_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// A locked document: what each operation gets, without the lock's CAS.
func TestALockedDocument(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		must[*couchbase.GetResult](t)(c.GetAndLock("a", 30*time.Second, nil))
		for _, op := range operations {
			began := time.Now()
			err := op.run(c, "a", setField("Timeout", 50*time.Millisecond))
			took := time.Since(began)
			switch op.name {
			case "Get", "Get with expiry", "Exists", "LookupIn", "GetAnyReplica", "LookupInAnyReplica":
				if err != nil {
					t.Errorf("%s reads a locked document: %v", op.name, err)
				}
			case "Insert":
				if !errors.Is(err, couchbase.ErrDocumentExists) || took != 0 {
					t.Errorf("%s says that there is a document: %v after %v", op.name, err, took)
				}
			case "Unlock": // with another CAS
				if !errors.Is(err, couchbase.ErrCasMismatch) || errors.Is(err, couchbase.ErrDocumentLocked) || took != 0 {
					t.Errorf("%s is not retried: %v after %v", op.name, err, took)
				}
			default:
				if !errors.Is(err, couchbase.ErrUnambiguousTimeout) || !errors.Is(err, couchbase.ErrDocumentLocked) || took != 50*time.Millisecond {
					t.Errorf("%s waits for the end of the lock: %v after %v", op.name, err, took)
				}
			}
		}
	})
}

// A write with the lock's CAS succeeds and ends the lock.
func TestAWriteWithTheCASOfTheLock(t *testing.T) {
	writes := map[string]func(c *couchbase.Collection, cas couchbase.Cas) error{
		"replace": func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Replace("a", 2, &couchbase.ReplaceOptions{Cas: cas}))
		},
		"append": func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Binary().Append("a", []byte("1"), &couchbase.AppendOptions{Cas: cas}))
		},
		"prepend": func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Binary().Prepend("a", []byte("1"), &couchbase.PrependOptions{Cas: cas}))
		},
		"mutate-in": func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.MutateIn("a", []couchbase.MutateInSpec{couchbase.ReplaceSpec("", 2, nil)}, &couchbase.MutateInOptions{Cas: cas}))
		},
		"bulk upsert": func(c *couchbase.Collection, cas couchbase.Cas) error {
			op := &couchbase.UpsertOp{ID: "a", Value: 2, Cas: cas}
			return errors.Join(c.Do([]couchbase.BulkOp{op}, nil), op.Err)
		},
		"remove": func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Remove("a", &couchbase.RemoveOptions{Cas: cas}))
		},
	}
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		for name, write := range writes {
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			locked := must[*couchbase.GetResult](t)(c.GetAndLock("a", 30*time.Second, nil))
			if err := write(c, locked.Cas()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := c.Upsert("a", 3, &couchbase.UpsertOptions{Timeout: 10 * time.Millisecond}); err != nil {
				t.Errorf("%s did not end the lock: %v", name, err)
			}
		}
	})
}

func TestALockEndsByItself(t *testing.T) {
	for _, test := range []struct {
		name       string
		time, ends time.Duration
	}{
		{"after its time", 7 * time.Second, 7 * time.Second},
		{"0 is the server's default", 0, 15 * time.Second},
		{"a part of a second is one second, not the default", time.Millisecond, time.Second},
		{"30 s is the longest", time.Hour, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCollection(t, func(t *testing.T, c *couchbase.Collection) {
				must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
				must[*couchbase.GetResult](t)(c.GetAndLock("a", test.time, nil))
				began := time.Now()
				must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{Timeout: time.Minute}))
				if took := time.Since(began); took < test.ends-time.Second || took > test.ends+time.Second {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}

func TestPreserveExpiry(t *testing.T) {
	preserved := func(expiry time.Duration) *couchbase.UpsertOptions {
		return &couchbase.UpsertOptions{PreserveExpiry: true, Expiry: expiry}
	}
	part := []couchbase.MutateInSpec{couchbase.UpsertSpec("x", 1, nil)}
	for _, test := range []struct {
		name  string
		write func(c *couchbase.Collection) error
		want  time.Duration
	}{
		{"an upsert without it ends the expiry", func(c *couchbase.Collection) error { return second(c.Upsert("a", 1, nil)) }, 0},
		{"an upsert with it keeps the expiry", func(c *couchbase.Collection) error { return second(c.Upsert("a", 1, preserved(0))) }, time.Hour},
		{"also if it names another one, which is for a new document", func(c *couchbase.Collection) error { return second(c.Upsert("a", 1, preserved(time.Minute))) }, time.Hour},
		{"a replace without it ends the expiry", func(c *couchbase.Collection) error { return second(c.Replace("a", 1, nil)) }, 0},
		{"a replace with it keeps the expiry", func(c *couchbase.Collection) error {
			return second(c.Replace("a", 1, &couchbase.ReplaceOptions{PreserveExpiry: true}))
		}, time.Hour},
		{"a mutate-in without an expiry keeps it", func(c *couchbase.Collection) error { return second(c.MutateIn("a", part, nil)) }, time.Hour},
		{"a mutate-in with another expiry takes that", func(c *couchbase.Collection) error {
			return second(c.MutateIn("a", part, &couchbase.MutateInOptions{Expiry: time.Minute}))
		}, time.Minute},
		{"a mutate-in that may make the document, with both, keeps it", func(c *couchbase.Collection) error {
			return second(c.MutateIn("a", part, &couchbase.MutateInOptions{Expiry: time.Minute, PreserveExpiry: true, StoreSemantic: couchbase.StoreSemanticsUpsert}))
		}, time.Hour},
		{"a touch sets it", func(c *couchbase.Collection) error { return second(c.Touch("a", time.Minute, nil)) }, time.Minute},
		{"a touch with 0 ends it", func(c *couchbase.Collection) error { return second(c.Touch("a", 0, nil)) }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCollection(t, func(t *testing.T, c *couchbase.Collection) {
				must[*couchbase.MutationResult](t)(c.Upsert("a", map[string]any{}, &couchbase.UpsertOptions{Expiry: time.Hour}))
				if err := test.write(c); err != nil {
					t.Fatal(err)
				}
				read := must[*couchbase.GetResult](t)(c.Get("a", &couchbase.GetOptions{WithExpiry: true}))
				var left time.Duration
				if !read.ExpiryTime().IsZero() {
					left = time.Until(read.ExpiryTime())
				}
				if left != test.want {
					t.Errorf("it expires in %v", left)
				}
			})
		})
	}
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("new", 1, preserved(time.Minute)))
		if read := must[*couchbase.GetResult](t)(c.Get("new", &couchbase.GetOptions{WithExpiry: true})); time.Until(read.ExpiryTime()) != time.Minute {
			t.Errorf("the expiry of a new document: %v", read.ExpiryTime())
		}
		for name, err := range map[string]error{
			"replace":                second(c.Replace("a", 1, &couchbase.ReplaceOptions{PreserveExpiry: true, Expiry: time.Hour})),
			"mutate-in":              second(c.MutateIn("a", part, &couchbase.MutateInOptions{PreserveExpiry: true, Expiry: time.Hour})),
			"mutate-in that inserts": second(c.MutateIn("a", part, &couchbase.MutateInOptions{PreserveExpiry: true, StoreSemantic: couchbase.StoreSemanticsInsert})),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestCounters(t *testing.T) {
	increment := func(o couchbase.IncrementOptions) func(c *couchbase.Collection) (*couchbase.CounterResult, error) {
		return func(c *couchbase.Collection) (*couchbase.CounterResult, error) { return c.Binary().Increment("n", &o) }
	}
	decrement := func(o couchbase.DecrementOptions) func(c *couchbase.Collection) (*couchbase.CounterResult, error) {
		return func(c *couchbase.Collection) (*couchbase.CounterResult, error) { return c.Binary().Decrement("n", &o) }
	}
	for _, test := range []struct {
		name   string
		before string // the document; "": there is none
		count  func(c *couchbase.Collection) (*couchbase.CounterResult, error)
		want   uint64
		err    error
	}{
		{"a new document has the initial value, without the delta", "", increment(couchbase.IncrementOptions{Initial: 7, Delta: 3}), 7, nil},
		{"an initial value of 0 makes the document", "", increment(couchbase.IncrementOptions{Delta: 3}), 0, nil},
		{"a negative initial value makes none", "", increment(couchbase.IncrementOptions{Initial: -1, Delta: 3}), 0, couchbase.ErrDocumentNotFound},
		{"of a decrement too", "", decrement(couchbase.DecrementOptions{Initial: -1, Delta: 3}), 0, couchbase.ErrDocumentNotFound},
		{"a delta of 0 reads", "5", increment(couchbase.IncrementOptions{}), 5, nil},
		{"a sum above the largest number begins again at 0", "18446744073709551615", increment(couchbase.IncrementOptions{Delta: 2}), 1, nil},
		{"the largest delta", "0", increment(couchbase.IncrementOptions{Delta: math.MaxUint64}), math.MaxUint64, nil},
		{"a difference below 0 is 0", "5", decrement(couchbase.DecrementOptions{Delta: math.MaxUint64}), 0, nil},
		{"a document that is no number", `"x"`, increment(couchbase.IncrementOptions{Delta: 1}), 0, couchbase.ErrDeltaInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCollection(t, func(t *testing.T, c *couchbase.Collection) {
				if test.before != "" {
					raw := &couchbase.UpsertOptions{Transcoder: couchbase.NewRawJSONTranscoder()}
					must[*couchbase.MutationResult](t)(c.Upsert("n", test.before, raw))
				}
				r, err := test.count(c)
				if !errors.Is(err, test.err) || err == nil && r.Content() != test.want {
					t.Errorf("%+v %v", r, err)
				}
			})
		})
	}
}

func TestWritesOfADocumentThatIsNotThere(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		for _, op := range operations {
			err := op.run(c, "none of "+op.name, func(any) {})
			switch op.name {
			case "Insert", "Upsert", "Increment", "Decrement", "Exists":
				if err != nil {
					t.Errorf("%s: %v", op.name, err)
				}
			case "GetAnyReplica", "LookupInAnyReplica":
				if !errors.Is(err, couchbase.ErrDocumentUnretrievable) {
					t.Errorf("%s: %v", op.name, err)
				}
			default:
				if !errors.Is(err, couchbase.ErrDocumentNotFound) {
					t.Errorf("%s: %v", op.name, err)
				}
			}
		}
	})
}

func TestIDsOfAllKinds(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		manager := b.CollectionsV2()
		if err := manager.CreateScope("s%_-1", nil); err != nil {
			t.Fatal(err)
		}
		if err := manager.CreateCollection("s%_-1", "c%_-1", nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*couchbase.Collection{b.DefaultCollection(), b.Scope("s%_-1").Collection("c%_-1")} {
			for _, id := range []string{"a", "ä", "日本語", "\x00", "a b/c%?#", strings.Repeat("ä", 123), strings.Repeat("k", 246), "\xff\xfe"} {
				must[*couchbase.MutationResult](t)(c.Upsert(id, id, nil))
				var got string
				if err := must[*couchbase.GetResult](t)(c.Get(id, nil)).Content(&got); err != nil {
					t.Errorf("%q: %v", id, err)
				}
				must[*couchbase.MutationResult](t)(c.Remove(id, nil))
			}
		}
		long := strings.Repeat("k", 250)
		must[*couchbase.MutationResult](t)(b.DefaultCollection().Upsert(long, 1, nil))
		must[*couchbase.MutationResult](t)(b.DefaultCollection().Upsert(long, 1, &couchbase.UpsertOptions{PreserveExpiry: true})) // with frames a key's length is one byte
	})
}

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
			if !errors.As(err, &history) || !history.OutcomeKnown() || history.Last().Why != retry.WhyNotRetryable {
				t.Errorf("level %d: %v", level, history)
			}
		}
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("it was applied: %v", err)
		}
	}, couchbasetest.Nodes(1))
}

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

func TestAPanicInAReadOfReplicasReachesItsCaller(t *testing.T) {
	o := &couchbase.GetAllReplicaOptions{RetryStrategy: askedStrategy(func(couchbase.RetryReason) { panic("mine") })}
	for name, read := range map[string]func(c *couchbase.Collection){
		"any": func(c *couchbase.Collection) { _, _ = c.GetAnyReplica("a", (*couchbase.GetAnyReplicaOptions)(o)) },
		"all": func(c *couchbase.Collection) {
			must[*couchbase.GetAllReplicasResult](t)(c.GetAllReplicas("a", o)).Next()
		},
	} {
		withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
			server.Use(couchbasetest.AnyOpcode, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
				return couchbasetest.Fault{Status: memd.StatusTemporaryFailure}
			}))
			defer func() {
				if v := recover(); v != "mine" {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			read(client.Bucket("default").DefaultCollection())
			t.Errorf("%s: it returned", name)
		}, couchbasetest.Nodes(2))
	}
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

// strategyFunc is a strategy made of a function.
type strategyFunc func(couchbase.RetryRequest, couchbase.RetryReason) couchbase.RetryAction

func (f strategyFunc) RetryAfter(r couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	return f(r, reason)
}

func TestHowAWaitUntilReadyEnds(t *testing.T) {
	mine := errors.New("mine")
	after := func(action couchbase.RetryAction) couchbase.RetryStrategy {
		return strategyFunc(func(r couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
			if reason == couchbase.NotReadyRetryReason && r.RetryAttempts() < 2 {
				return &couchbase.WithDurationRetryAction{WithDuration: 10 * time.Millisecond}
			}
			return action
		})
	}
	cancelled := func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(70*time.Millisecond, cancel)
		return ctx
	}
	ended := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		time.AfterFunc(time.Second, cancel)
		return ctx
	}
	for _, test := range []struct {
		name  string
		o     func() couchbase.WaitUntilReadyOptions
		after time.Duration
		is    []error
		isNot []error
	}{
		{"its timeout", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{} }, 100 * time.Millisecond, []error{couchbase.ErrTimeout, couchbase.ErrUnambiguousTimeout, couchbase.ErrBucketNotFound}, []error{couchbase.ErrRequestCanceled}},
		{"the deadline of its context", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{Context: ended()} }, 30 * time.Millisecond, []error{couchbase.ErrUnambiguousTimeout, context.DeadlineExceeded, couchbase.ErrBucketNotFound}, []error{couchbase.ErrRequestCanceled}},
		{"the cancellation of its context", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{Context: cancelled()} }, 70 * time.Millisecond, []error{couchbase.ErrRequestCanceled, context.Canceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy that declines", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(&couchbase.NoRetryRetryAction{})}
		}, 20 * time.Millisecond, []error{couchbase.ErrRequestCanceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy without an action", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(nil)}
		}, 20 * time.Millisecond, []error{couchbase.ErrRequestCanceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy that fails", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(&couchbase.FailedRetryAction{Err: mine})}
		}, 20 * time.Millisecond, []error{mine, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
				if err := client.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeManagement}}); err != nil {
					t.Fatal(err)
				}
				o := test.o()
				began := time.Now()
				err := client.Bucket("none").WaitUntilReady(100*time.Millisecond, &o)
				if took := time.Since(began); took != test.after {
					t.Errorf("it ended after %v", took)
				}
				for _, want := range test.is {
					if !errors.Is(err, want) {
						t.Errorf("%v does not match %q", err, want)
					}
				}
				for _, not := range test.isNot {
					if errors.Is(err, not) {
						t.Errorf("%v matches %q", err, not)
					}
				}
			})
		})
	}
}

// RFC 0076: a bucket without the capability "subdoc.ReplicaRead" has no look-ups on replicas. Reads of whole documents need none.
func TestLookUpsOnReplicasNeedTheirCapability(t *testing.T) {
	specs := []couchbase.LookupInSpec{couchbase.GetSpec("", nil)}
	for version, can := range map[string]bool{"7.2": false, "7.6": true} {
		withCollection(t, func(t *testing.T, c *couchbase.Collection) {
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			for name, err := range map[string]error{
				"any": second(c.LookupInAnyReplica("a", specs, nil)), "all": second(c.LookupInAllReplicas("a", specs, nil)),
			} {
				if can != (err == nil) || err != nil && !errors.Is(err, couchbase.ErrFeatureNotAvailable) {
					t.Errorf("version %s, %s: %v", version, name, err)
				}
			}
			must[*couchbase.GetReplicaResult](t)(c.GetAnyReplica("a", nil))
		}, couchbasetest.Nodes(2), couchbasetest.Version(version))
	}
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

// The parts of a look-up are in the caller's order, whatever their order on the wire.
func TestTheOrderOfTheAnswersToALookUp(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		xattr := &couchbase.UpsertSpecOptions{IsXattr: true}
		must[*couchbase.MutateInResult](t)(c.MutateIn("a", []couchbase.MutateInSpec{
			couchbase.UpsertSpec("n", 1, nil), couchbase.UpsertSpec("x", map[string]int{"y": 2}, xattr),
		}, &couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsUpsert}))
		r := must[*couchbase.LookupInResult](t)(c.LookupIn("a", []couchbase.LookupInSpec{
			couchbase.GetSpec("n", nil), couchbase.ExistsSpec("x", &couchbase.ExistsSpecOptions{IsXattr: true}), couchbase.ExistsSpec("none", nil),
			couchbase.ExistsSpec("n.m", nil), couchbase.GetSpec("x.y", &couchbase.GetSpecOptions{IsXattr: true}), couchbase.GetSpec("n.m", nil),
		}, nil))
		var n, y int
		var x, none, mismatch bool
		for i, out := range []any{&n, &x, &none} {
			if err := r.ContentAt(uint(i), out); err != nil {
				t.Errorf("part %d: %v", i, err)
			}
		}
		if err := r.ContentAt(4, &y); err != nil || n != 1 || !x || none || y != 2 {
			t.Errorf("%d %v %v %d %v", n, x, none, y, err)
		}
		for _, i := range []uint{3, 5} {
			if err := r.ContentAt(i, &mismatch); !errors.Is(err, couchbase.ErrPathMismatch) || r.Exists(i) {
				t.Errorf("part %d, whose path does not suit the document: %v", i, err)
			}
		}
	})
}

// Degraded means that something works: at least one connection, and one node of each service.
func TestNothingWorksIsNotDegraded(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		if err := b.WaitUntilReady(5*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		server.Kill(0)
		server.Kill(1)
		<-time.After(time.Second)
		degraded := couchbase.WaitUntilReadyOptions{DesiredState: couchbase.ClusterStateDegraded}
		if err := b.WaitUntilReady(time.Second, &degraded); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("the bucket: %v", err)
		}
		degraded.ServiceTypes = []couchbase.ServiceType{couchbase.ServiceTypeQuery}
		if err := client.WaitUntilReady(time.Second, &degraded); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("the query service: %v", err)
		}
		if d := must[*couchbase.DiagnosticsResult](t)(client.Diagnostics(nil)); d.State != couchbase.ClusterStateOffline {
			t.Errorf("the diagnostics: %v", d.State)
		}
	}, couchbasetest.Nodes(2))
}

func TestCloseEndsAWaitUntilReady(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		server.Kill(0)
		b := client.Bucket("default")
		time.AfterFunc(10*time.Second, func() { client.Close(nil) })
		began := time.Now()
		err := b.WaitUntilReady(time.Minute, nil)
		if took := time.Since(began); !errors.Is(err, couchbase.ErrShutdown) || errors.Is(err, couchbase.ErrTimeout) || took > 10*time.Second+500*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}

package couchbase_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
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
		{"a mutate-in without an expiry ends it", func(c *couchbase.Collection) error { return second(c.MutateIn("a", part, nil)) }, 0},
		{"a mutate-in that preserves it keeps it", func(c *couchbase.Collection) error {
			return second(c.MutateIn("a", part, &couchbase.MutateInOptions{PreserveExpiry: true}))
		}, time.Hour},
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

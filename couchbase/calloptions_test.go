package couchbase_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// operations are all operations on documents. set changes the options before the operation runs with the id "a".
var operations = []struct {
	name   string
	opcode memd.Opcode
	run    func(c *couchbase.Collection, id string, set func(options any)) error
}{
	{"Get", memd.OpGet, with(func(c *couchbase.Collection, id string, o *couchbase.GetOptions) error {
		_, err := c.Get(id, o)
		return err
	})},
	{"Get with expiry", memd.OpSubdocMultiLookup, with(func(c *couchbase.Collection, id string, o *couchbase.GetOptions) error {
		o.WithExpiry = true
		_, err := c.Get(id, o)
		return err
	})},
	{"Exists", memd.OpGetMeta, with(func(c *couchbase.Collection, id string, o *couchbase.ExistsOptions) error {
		_, err := c.Exists(id, o)
		return err
	})},
	{"GetAndTouch", memd.OpGetAndTouch, with(func(c *couchbase.Collection, id string, o *couchbase.GetAndTouchOptions) error {
		_, err := c.GetAndTouch(id, time.Hour, o)
		return err
	})},
	{"GetAndLock", memd.OpGetLocked, with(func(c *couchbase.Collection, id string, o *couchbase.GetAndLockOptions) error {
		_, err := c.GetAndLock(id, time.Second, o)
		return err
	})},
	{"Unlock", memd.OpUnlock, with(func(c *couchbase.Collection, id string, o *couchbase.UnlockOptions) error { return c.Unlock(id, 1, o) })},
	{"Touch", memd.OpTouch, with(func(c *couchbase.Collection, id string, o *couchbase.TouchOptions) error {
		_, err := c.Touch(id, time.Hour, o)
		return err
	})},
	{"Insert", memd.OpAdd, with(func(c *couchbase.Collection, id string, o *couchbase.InsertOptions) error {
		_, err := c.Insert(id, 1, o)
		return err
	})},
	{"Upsert", memd.OpSet, with(func(c *couchbase.Collection, id string, o *couchbase.UpsertOptions) error {
		_, err := c.Upsert(id, 1, o)
		return err
	})},
	{"Replace", memd.OpReplace, with(func(c *couchbase.Collection, id string, o *couchbase.ReplaceOptions) error {
		_, err := c.Replace(id, 1, o)
		return err
	})},
	{"Remove", memd.OpDelete, with(func(c *couchbase.Collection, id string, o *couchbase.RemoveOptions) error {
		_, err := c.Remove(id, o)
		return err
	})},
	{"Append", memd.OpAppend, with(func(c *couchbase.Collection, id string, o *couchbase.AppendOptions) error {
		_, err := c.Binary().Append(id, []byte("1"), o)
		return err
	})},
	{"Prepend", memd.OpPrepend, with(func(c *couchbase.Collection, id string, o *couchbase.PrependOptions) error {
		_, err := c.Binary().Prepend(id, []byte("1"), o)
		return err
	})},
	{"Increment", memd.OpIncrement, with(func(c *couchbase.Collection, id string, o *couchbase.IncrementOptions) error {
		_, err := c.Binary().Increment(id, o)
		return err
	})},
	{"Decrement", memd.OpDecrement, with(func(c *couchbase.Collection, id string, o *couchbase.DecrementOptions) error {
		_, err := c.Binary().Decrement(id, o)
		return err
	})},
	{"LookupIn", memd.OpSubdocMultiLookup, with(func(c *couchbase.Collection, id string, o *couchbase.LookupInOptions) error {
		_, err := c.LookupIn(id, []couchbase.LookupInSpec{couchbase.GetSpec("", nil)}, o)
		return err
	})},
	{"MutateIn", memd.OpSubdocMultiMutation, with(func(c *couchbase.Collection, id string, o *couchbase.MutateInOptions) error {
		_, err := c.MutateIn(id, []couchbase.MutateInSpec{couchbase.ReplaceSpec("", 2, nil)}, o)
		return err
	})},
	{"GetAnyReplica", memd.OpGet, with(func(c *couchbase.Collection, id string, o *couchbase.GetAnyReplicaOptions) error {
		_, err := c.GetAnyReplica(id, o)
		return err
	})},
	{"LookupInAnyReplica", memd.OpSubdocMultiLookup, with(func(c *couchbase.Collection, id string, o *couchbase.LookupInAnyReplicaOptions) error {
		_, err := c.LookupInAnyReplica(id, []couchbase.LookupInSpec{couchbase.GetSpec("", nil)}, o)
		return err
	})},
}

// with makes an operation of the table from one with typed options.
func with[O any](run func(c *couchbase.Collection, id string, o *O) error) func(*couchbase.Collection, string, func(any)) error {
	return func(c *couchbase.Collection, id string, set func(any)) error {
		o := new(O)
		set(o)
		return run(c, id, o)
	}
}

// setField sets a field of options, if they have it.
func setField(name string, value any) func(any) {
	return func(options any) {
		field := reflect.ValueOf(options).Elem()
		for part := range strings.SplitSeq(name, ".") {
			field = field.FieldByName(part)
		}
		field.Set(reflect.ValueOf(value))
	}
}

// alsoMatches are the sentinels that gocb has for some of the cases below.
var alsoMatches = map[string]error{
	"too many nodes": couchbase.ErrDurabilityImpossible, "too many replicas": couchbase.ErrDurabilityImpossible,
	"a preference for no group": couchbase.ErrDocumentUnretrievable,
}

// Whatever is wrong with a call is said before anything is sent.
func TestCallsThatAreRefusedBeforeTheNetworkIsUsed(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		named := client.Bucket("default").Scope("s").Collection("c")
		long := strings.Repeat("k", 251)
		for _, op := range operations {
			for _, test := range []struct {
				name       string
				collection *couchbase.Collection
				id         string
				set        func(any)
				says       string
			}{
				{"an empty id", c, "", nil, "id"},
				{"a long id", c, long, nil, "250"},
				{"a long id in a collection", named, long[:247], nil, "246"},
				{"a long id in the default collection of another scope", client.Bucket("default").Scope("s").Collection("_default"), long[:247], nil, "246"},
				{"a negative timeout", c, "a", setField("Timeout", time.Duration(-1)), "Timeout"},
				{"another user", c, "a", setField("Internal.User", "x"), "Internal.User"},
				{"no bucket", client.Bucket("").DefaultCollection(), "a", nil, "bucket"},
				{"no scope", client.Bucket("default").Scope("").Collection("c"), "a", nil, "scope"},
				{"no collection", client.Bucket("default").Collection(""), "a", nil, "collection"},
			} {
				if test.set == nil {
					test.set = func(any) {}
				}
				if err := op.run(test.collection, test.id, test.set); !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s, %s: %v", op.name, test.name, err)
				}
			}
		}
		for name, err := range map[string]error{
			"a negative expiry": second(c.Upsert("a", 1, &couchbase.UpsertOptions{Expiry: -1})),
			"an endless expiry": second(c.Touch("a", 200*365*24*time.Hour, nil)),
			"a negative lock":   second(c.GetAndLock("a", -1, nil)),
			"a counter's CAS":   second(c.Binary().Increment("a", &couchbase.IncrementOptions{Cas: 1})),
			"two expiries":      second(c.Replace("a", 1, &couchbase.ReplaceOptions{Expiry: 1, PreserveExpiry: true})),
			"a new document's CAS": second(c.MutateIn("a", []couchbase.MutateInSpec{couchbase.RemoveSpec("x", nil)},
				&couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsInsert, Cas: 1})),
			"an empty projection":       second(c.Get("a", &couchbase.GetOptions{Project: []string{""}})),
			"an unknown preference":     second(c.GetAnyReplica("a", &couchbase.GetAnyReplicaOptions{ReadPreference: 9})),
			"too many nodes":            second(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 9})),
			"too many replicas":         second(c.Remove("a", &couchbase.RemoveOptions{ReplicateTo: 4})),
			"a preference for no group": second(c.GetAnyReplica("a", &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup})),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) {
				t.Errorf("%s: %v", name, err)
			}
			if wants := alsoMatches[name]; wants != nil && !errors.Is(err, wants) {
				t.Errorf("%s: %v does not match %v", name, err, wants)
			}
		}
		checkLargeValues(t, c)
		if n := len(server.Journal()); n != 0 {
			t.Errorf("%d writes reached the server", n)
		}
	})
}

// checkLargeValues checks that a value above 20 MiB is refused, also if it would be smaller when it is compressed.
func checkLargeValues(t *testing.T, c *couchbase.Collection) {
	t.Helper()
	large := make([]byte, 20<<20+1) // of zero bytes, which JSON writes as six bytes each
	raw := couchbase.NewRawBinaryTranscoder()
	for name, err := range map[string]error{
		"insert":    second(c.Insert("a", large, &couchbase.InsertOptions{Transcoder: raw})),
		"upsert":    second(c.Upsert("a", large, &couchbase.UpsertOptions{Transcoder: raw})),
		"replace":   second(c.Replace("a", large, &couchbase.ReplaceOptions{Transcoder: raw})),
		"append":    second(c.Binary().Append("a", large, nil)),
		"prepend":   second(c.Binary().Prepend("a", large, nil)),
		"mutate-in": second(c.MutateIn("a", []couchbase.MutateInSpec{couchbase.UpsertSpec("p", string(large[:4<<20]), nil)}, nil)),
	} {
		if errors.Is(err, couchbase.ErrInvalidArgument) || !errors.Is(err, couchbase.ErrValueTooLarge) || !strings.Contains(err.Error(), "20971520") {
			t.Errorf("%s of a large value: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Every operation follows the options that all of them have.
func TestCallsFollowTheirOptions(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		tracer := &spans{}
		client := connect(t, server, couchbase.ClusterOptions{Tracer: tracer})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		var refused atomic.Bool // replicas are read at once, and a read that a deadline ends may still arrive
		server.Use(couchbasetest.AnyOpcode, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
			if refused.Load() {
				return couchbasetest.Fault{Status: memd.StatusTemporaryFailure}
			}
			return couchbasetest.Fault{}
		}))
		for _, op := range operations {
			replicas := strings.Contains(op.name, "Replica")
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			refused.Store(true)
			if err := op.run(c, "a", setField("Context", cancelled)); !errors.Is(err, context.Canceled) && !errors.Is(err, couchbase.ErrRequestCanceled) {
				t.Errorf("%s with a context that has ended: %v", op.name, err)
			}
			began := time.Now()
			err := op.run(c, "a", setField("Timeout", 77*time.Millisecond))
			if took := time.Since(began); took != 77*time.Millisecond || !errors.Is(err, couchbase.ErrTimeout) || !errors.Is(err, couchbase.ErrTemporaryFailure) {
				t.Errorf("%s with a timeout: %v after %v", op.name, err, took)
			}
			var asked []couchbase.RetryReason
			var strategy couchbase.RetryStrategy = askedStrategy(func(reason couchbase.RetryReason) { asked = append(asked, reason) })
			err = op.run(c, "a", setField("RetryStrategy", strategy))
			if !slices.Contains(asked, couchbase.KVTemporaryFailureRetryReason) || !errors.Is(err, couchbase.ErrTemporaryFailure) || !replicas && errors.Is(err, couchbase.ErrTimeout) {
				t.Errorf("%s with a strategy that declines: %v, asked about %v", op.name, err, asked)
			}
			parent := tracer.RequestSpan(nil, "parent of "+op.name)
			_ = op.run(c, "a", func(o any) {
				setField("ParentSpan", parent)(o)
				setField("RetryStrategy", strategy)(o)
			})
			if !slices.ContainsFunc(tracer.all, func(s *recordedSpan) bool { return s.parent == "parent of "+op.name }) {
				t.Errorf("%s has no span under its parent", op.name)
			}
			refused.Store(false)
		}
	})
}

// askedStrategy is a strategy that declines. It is called for one reason after the other, also where replicas are read at once.
type askedStrategy func(couchbase.RetryReason)

var oneReason sync.Mutex

func (s askedStrategy) RetryAfter(_ couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	oneReason.Lock()
	defer oneReason.Unlock()
	s(reason)
	return &couchbase.NoRetryRetryAction{}
}

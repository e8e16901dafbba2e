package couchbase_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// withCluster runs a test with a cluster in memory and a client of it, on the fake clock.
func withCluster(t *testing.T, test func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster), opts ...couchbasetest.Option) {
	t.Helper()
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{})
		defer client.Close(nil)
		test(t, server, client)
	}, opts...)
}

// withServer runs a test on the fake clock with a cluster in memory.
func withServer(t *testing.T, test func(t *testing.T, server *couchbasetest.Cluster), opts ...couchbasetest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := couchbasetest.Run(append([]couchbasetest.Option{couchbasetest.InMemory(), couchbasetest.VBuckets(16)}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		test(t, server)
	})
}

// connect returns a client of a cluster in memory. Unless the options say otherwise it logs in with PLAIN: SCRAM is slow on purpose, and has
// tests of its own.
func connect(t *testing.T, server *couchbasetest.Cluster, o couchbase.ClusterOptions) *couchbase.Cluster {
	t.Helper()
	if o.Authenticator == nil {
		o.Authenticator = couchbase.PasswordAuthenticator{Username: server.Username(), Password: server.Password()}
	}
	if o.SecurityConfig.AllowedSaslMechanisms == nil {
		o.SecurityConfig.AllowedSaslMechanisms = []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}
	}
	client, err := couchbase.Open(server.ConnectionString(), couchbase.Config{Dial: server.Dialer().DialContext}, o)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// withCollection is withCluster with the default collection.
func withCollection(t *testing.T, test func(t *testing.T, c *couchbase.Collection), opts ...couchbasetest.Option) {
	t.Helper()
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		test(t, client.Bucket("default").DefaultCollection())
	}, opts...)
}

// must ends the test at an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// content returns a document's value.
func content(t *testing.T, r interface{ Content(any) error }) any {
	t.Helper()
	var v any
	if err := r.Content(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDocumentsAreStoredReadAndRemoved(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		inserted := must[*couchbase.MutationResult](t)(c.Insert("a", map[string]any{"x": 1.0}, nil))
		if inserted.Cas() == 0 || inserted.MutationToken() == nil || inserted.MutationToken().BucketName() != "default" {
			t.Errorf("%+v", inserted)
		}
		if _, err := c.Insert("a", 1, nil); !errors.Is(err, couchbase.ErrDocumentExists) {
			t.Errorf("a second insert: %v", err)
		}
		read := must[*couchbase.GetResult](t)(c.Get("a", nil))
		if read.Cas() != inserted.Cas() || !reflect.DeepEqual(content(t, read), map[string]any{"x": 1.0}) {
			t.Errorf("%v", content(t, read))
		}
		upserted := must[*couchbase.MutationResult](t)(c.Upsert("a", "text", nil))
		if _, err := c.Replace("a", 2, &couchbase.ReplaceOptions{Cas: inserted.Cas()}); !errors.Is(err, couchbase.ErrCasMismatch) {
			t.Errorf("a replace of an older version: %v", err)
		}
		must[*couchbase.MutationResult](t)(c.Replace("a", 2, &couchbase.ReplaceOptions{Cas: upserted.Cas()}))
		if exists := must[*couchbase.ExistsResult](t)(c.Exists("a", nil)); !exists.Exists() || exists.Cas() == 0 {
			t.Errorf("%+v", exists)
		}
		if _, err := c.Remove("a", &couchbase.RemoveOptions{Cas: upserted.Cas()}); !errors.Is(err, couchbase.ErrCasMismatch) {
			t.Errorf("a removal of an older version: %v", err)
		}
		must[*couchbase.MutationResult](t)(c.Remove("a", nil))
		if exists := must[*couchbase.ExistsResult](t)(c.Exists("a", nil)); exists.Exists() || exists.Cas() != 0 {
			t.Errorf("%+v", exists)
		}
		var kvError *couchbase.KeyValueError
		_, err := c.Get("a", nil)
		if !errors.Is(err, couchbase.ErrDocumentNotFound) || !errors.As(err, &kvError) || kvError.DocumentID != "a" || kvError.BucketName != "default" ||
			kvError.StatusCode != 1 || kvError.LastDispatchedTo == "" {
			t.Errorf("%v", err)
		}
		if _, err := c.Replace("a", 1, nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("a replace of nothing: %v", err)
		}
	})
}

func TestExpiriesAreSetReadAndKept(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		withExpiry := &couchbase.GetOptions{WithExpiry: true}
		expiry := func() time.Duration {
			t.Helper()
			result := must[*couchbase.GetResult](t)(c.Get("a", withExpiry))
			if content(t, result) == nil {
				t.Error("the document is not there")
			}
			if result.ExpiryTime().IsZero() {
				return 0
			}
			return time.Until(result.ExpiryTime()).Round(time.Second)
		}
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if d := expiry(); d != 0 {
			t.Errorf("without an expiry: %v", d)
		}
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{Expiry: time.Hour}))
		if d := expiry(); d != time.Hour {
			t.Errorf("an hour: %v", d)
		}
		must[*couchbase.MutationResult](t)(c.Upsert("a", 2, &couchbase.UpsertOptions{PreserveExpiry: true}))
		if d := expiry(); d != time.Hour {
			t.Errorf("a preserved hour: %v", d)
		}
		must[*couchbase.MutationResult](t)(c.Touch("a", 40*24*time.Hour, nil))
		if d := expiry(); d != 40*24*time.Hour {
			t.Errorf("40 days: %v", d)
		}
		touched := must[*couchbase.GetResult](t)(c.GetAndTouch("a", 100*time.Millisecond, nil))
		if content(t, touched) != 2.0 {
			t.Errorf("%v", content(t, touched))
		}
		<-time.After(2 * time.Second) // of the fake clock
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("after its expiry: %v", err)
		}
		plain := must[*couchbase.MutationResult](t)(c.Upsert("b", 1, nil))
		if r := must[*couchbase.GetResult](t)(c.Get("b", nil)); r.Expiry() != nil || plain == nil {
			t.Error("an expiry that was not asked for")
		}
	})
}

func TestLocks(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		locked := must[*couchbase.GetResult](t)(c.GetAndLock("a", 10*time.Second, nil))
		if content(t, locked) != 1.0 {
			t.Errorf("%v", content(t, locked))
		}
		_, err := c.Upsert("a", 2, &couchbase.UpsertOptions{Timeout: time.Second})
		var timeout *couchbase.TimeoutError
		if !errors.Is(err, couchbase.ErrUnambiguousTimeout) || !errors.Is(err, couchbase.ErrTimeout) || !errors.Is(err, couchbase.ErrDocumentLocked) ||
			!errors.As(err, &timeout) || timeout.RetryAttempts < 2 || timeout.RetryReasons[0] != couchbase.KVLockedRetryReason ||
			timeout.OperationID != "Set" || timeout.TimeObserved != time.Second {
			t.Errorf("a write of a locked document: %v", err)
		}
		if err := c.Unlock("a", locked.Cas()+1, nil); !errors.Is(err, couchbase.ErrCasMismatch) {
			t.Errorf("another version: %v", err)
		}
		if err := c.Unlock("a", locked.Cas(), nil); err != nil {
			t.Error(err)
		}
		if err := c.Unlock("a", locked.Cas(), nil); !errors.Is(err, couchbase.ErrDocumentNotLocked) {
			t.Errorf("a second unlock: %v", err)
		}
		locked = must[*couchbase.GetResult](t)(c.GetAndLock("a", 10*time.Second, nil))
		must[*couchbase.MutationResult](t)(c.Replace("a", 2, &couchbase.ReplaceOptions{Cas: locked.Cas()}))
	})
}

func TestCountersAndBytes(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		b := c.Binary()
		if r := must[*couchbase.CounterResult](t)(b.Increment("n", &couchbase.IncrementOptions{Initial: 5, Delta: 3})); r.Content() != 5 || r.Cas() == 0 {
			t.Errorf("%+v", r)
		}
		if r := must[*couchbase.CounterResult](t)(b.Increment("n", &couchbase.IncrementOptions{Initial: 5, Delta: 3})); r.Content() != 8 {
			t.Errorf("%+v", r)
		}
		if r := must[*couchbase.CounterResult](t)(b.Decrement("n", &couchbase.DecrementOptions{Delta: 10})); r.Content() != 0 || r.MutationToken() == nil {
			t.Errorf("%+v", r)
		}
		if _, err := b.Increment("m", &couchbase.IncrementOptions{Initial: -1, Delta: 1}); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("a counter that may not be made: %v", err)
		}
		if _, err := b.Append("none", []byte("x"), nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("an append to nothing: %v", err)
		}
		binary := couchbase.NewRawBinaryTranscoder()
		must[*couchbase.MutationResult](t)(c.Upsert("b", []byte("b"), &couchbase.UpsertOptions{Transcoder: binary}))
		must[*couchbase.MutationResult](t)(b.Append("b", []byte("c"), nil))
		must[*couchbase.MutationResult](t)(b.Prepend("b", []byte("a"), nil))
		var value []byte
		if err := must[*couchbase.GetResult](t)(c.Get("b", &couchbase.GetOptions{Transcoder: binary})).Content(&value); err != nil || string(value) != "abc" {
			t.Errorf("%q %v", value, err)
		}
	})
}

func TestPartsOfDocuments(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", map[string]any{"n": 1, "list": []int{1, 2}, "o": map[string]any{"p": "q"}}, nil))
		attribute := &couchbase.UpsertSpecOptions{IsXattr: true, CreatePath: true}
		changed := must[*couchbase.MutateInResult](t)(c.MutateIn("a", []couchbase.MutateInSpec{
			couchbase.IncrementSpec("n", 4, nil),
			couchbase.ArrayAppendSpec("list", []int{3, 4}, &couchbase.ArrayAppendSpecOptions{HasMultiple: true}),
			couchbase.UpsertSpec("meta.cas", couchbase.MutationMacroCAS, attribute),
			couchbase.RemoveSpec("o.p", nil),
		}, nil))
		var n int
		if err := changed.ContentAt(0, &n); err != nil || n != 5 || changed.MutationToken() == nil {
			t.Errorf("%d %v", n, err)
		}
		if err := changed.ContentAt(1, &n); !errors.Is(err, couchbase.ErrNoResult) {
			t.Errorf("a part without an answer: %v", err)
		}
		if err := changed.ContentAt(4, &n); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Errorf("a part that is not there: %v", err)
		}
		read := must[*couchbase.LookupInResult](t)(c.LookupIn("a", []couchbase.LookupInSpec{
			couchbase.GetSpec("n", nil),
			couchbase.GetSpec("meta.cas", &couchbase.GetSpecOptions{IsXattr: true}),
			couchbase.CountSpec("list", nil),
			couchbase.ExistsSpec("o.p", nil),
			couchbase.GetSpec("nothing", nil),
			couchbase.GetSpec("", nil),
		}, nil))
		var cas string
		var count int
		var exists bool
		var whole map[string]any
		for i, out := range []any{&n, &cas, &count, &exists, nil, &whole} {
			err := read.ContentAt(uint(i), out)
			if i == 4 {
				if !errors.Is(err, couchbase.ErrPathNotFound) || read.Exists(4) {
					t.Errorf("a path that is not there: %v", err)
				}
			} else if err != nil {
				t.Errorf("part %d: %v", i, err)
			}
		}
		want := map[string]any{"n": 5.0, "list": []any{1.0, 2.0, 3.0, 4.0}, "o": map[string]any{}}
		if n != 5 || !strings.HasPrefix(cas, "0x") || count != 4 || exists || read.Exists(3) || !read.Exists(0) || !reflect.DeepEqual(whole, want) || read.Cas() != changed.Cas() {
			t.Errorf("%d %s %d %v %v", n, cas, count, exists, whole)
		}
		_, err := c.MutateIn("a", []couchbase.MutateInSpec{couchbase.InsertSpec("new", 1, nil), couchbase.InsertSpec("n", 1, nil)}, nil)
		if !errors.Is(err, couchbase.ErrPathExists) {
			t.Errorf("an insert where there is something: %v", err)
		}
		must[*couchbase.MutateInResult](t)(c.MutateIn("new", []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)},
			&couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsInsert, Expiry: time.Hour}))
		_, err = c.MutateIn("new", []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)},
			&couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsInsert})
		if !errors.Is(err, couchbase.ErrDocumentExists) {
			t.Errorf("a document that is there: %v", err)
		}
		_, err = c.MutateIn("none", []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)}, nil)
		if !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("a document that is not there: %v", err)
		}
	})
}

func TestProjections(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		document := map[string]any{"a": map[string]any{"b": 1.0, "c": 2.0}, "list": []any{1.0, map[string]any{"x": 3.0}}, "d.e": 4.0}
		for i := range 20 {
			document[fmt.Sprintf("f%d", i)] = float64(i)
		}
		must[*couchbase.MutationResult](t)(c.Upsert("a", document, &couchbase.UpsertOptions{Expiry: time.Hour}))
		many := []string{"a.b", "list[1].x", "list[-1]", "nothing", "a.b.c", "`d.e`"}
		for i := range 20 {
			many = append(many, fmt.Sprintf("f%d", i))
		}
		wantMany := map[string]any{"a": map[string]any{"b": 1.0}, "list": []any{map[string]any{"x": 3.0}, map[string]any{"x": 3.0}}, "d.e": 4.0}
		for i := range 20 {
			wantMany[fmt.Sprintf("f%d", i)] = float64(i)
		}
		for _, test := range []struct {
			name  string
			paths []string
			want  any
		}{
			{"a field", []string{"a.b"}, map[string]any{"a": map[string]any{"b": 1.0}}},
			{"two fields of one object", []string{"a.b", "a.c"}, map[string]any{"a": map[string]any{"b": 1.0, "c": 2.0}}},
			{"an element", []string{"list[1].x"}, map[string]any{"list": []any{map[string]any{"x": 3.0}}}},
			{"a field that is not there", []string{"a.b", "nothing"}, map[string]any{"a": map[string]any{"b": 1.0}}},
			{"more paths than a server takes", many, wantMany},
		} {
			result := must[*couchbase.GetResult](t)(c.Get("a", &couchbase.GetOptions{Project: test.paths, WithExpiry: true}))
			if got := content(t, result); !reflect.DeepEqual(got, test.want) || result.ExpiryTime().IsZero() {
				t.Errorf("%s: %v", test.name, got)
			}
		}
	})
}

func TestReplicas(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority}))
		if r := must[*couchbase.GetReplicaResult](t)(c.GetAnyReplica("a", nil)); content(t, r) != 1.0 {
			t.Errorf("%v", content(t, r))
		}
		all := must[*couchbase.GetAllReplicasResult](t)(c.GetAllReplicas("a", nil))
		active, replicas := 0, 0
		for r := all.Next(); r != nil; r = all.Next() {
			if content(t, r) != 1.0 {
				t.Errorf("%v", content(t, r))
			}
			if r.IsReplica() {
				replicas++
			} else {
				active++
			}
		}
		if active != 1 || replicas != 2 {
			t.Errorf("%d active, %d replicas", active, replicas)
		}
		if _, err := c.GetAnyReplica("none", nil); !errors.Is(err, couchbase.ErrDocumentUnretrievable) {
			t.Errorf("%v", err)
		}
		specs := []couchbase.LookupInSpec{couchbase.GetSpec("", nil)}
		var n int
		if r := must[*couchbase.LookupInReplicaResult](t)(c.LookupInAnyReplica("a", specs, nil)); r.ContentAt(0, &n) != nil || n != 1 {
			t.Errorf("%d", n)
		}
		parts := must[*couchbase.LookupInAllReplicasResult](t)(c.LookupInAllReplicas("a", specs, nil))
		count := 0
		for r := parts.Next(); r != nil; r = parts.Next() {
			count++
		}
		if count != 3 || parts.Close() != nil {
			t.Errorf("%d copies", count)
		}
	}, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}))
}

func TestDurabilityIsObserved(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		for _, tokens := range []bool{true, false} {
			o := couchbase.ClusterOptions{IoConfig: couchbase.IoConfig{DisableMutationTokens: !tokens}}
			observer := connect(t, server, o)
			defer observer.Close(nil)
			c := observer.Bucket("default").DefaultCollection()
			began := time.Now()
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 2, ReplicateTo: 1}))
			if took := time.Since(began); took < 300*time.Millisecond {
				t.Errorf("tokens %v: it was not waited for the copies: %v", tokens, took)
			}
			must[*couchbase.MutationResult](t)(c.Remove("a", &couchbase.RemoveOptions{ReplicateTo: 1}))
			_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 1, Timeout: 50 * time.Millisecond})
			if !errors.Is(err, couchbase.ErrAmbiguousTimeout) {
				t.Errorf("tokens %v: a write that is not on disk in time: %v", tokens, err)
			}
			if _, err := c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 3}); !errors.Is(err, couchbase.ErrDurabilityImpossible) {
				t.Errorf("tokens %v: more replicas than there are: %v", tokens, err)
			}
		}
	}, couchbasetest.Nodes(3), couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(300*time.Millisecond))
}

func TestBulk(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		var ops []couchbase.BulkOp
		for i := range 200 {
			ops = append(ops, &couchbase.InsertOp{ID: fmt.Sprint(i), Value: i})
		}
		if err := c.Do(ops, nil); err != nil {
			t.Fatal(err)
		}
		for i, op := range ops {
			if o := op.(*couchbase.InsertOp); o.Err != nil || o.Result.Cas() == 0 {
				t.Errorf("%d: %v", i, o.Err)
			}
		}
		get, none := &couchbase.GetOp{ID: "7"}, &couchbase.GetOp{ID: "none"}
		count := &couchbase.IncrementOp{ID: "n", Initial: 3, Delta: 1}
		others := []couchbase.BulkOp{
			get, none, count, &couchbase.UpsertOp{ID: "1", Value: 2}, &couchbase.ReplaceOp{ID: "2", Value: 2}, &couchbase.TouchOp{ID: "3"},
			&couchbase.GetAndTouchOp{ID: "4"}, &couchbase.RemoveOp{ID: "5"}, &couchbase.DecrementOp{ID: "d", Initial: 3},
			&couchbase.AppendOp{ID: "6", Value: "0"}, &couchbase.PrependOp{ID: "8", Value: "1"},
		}
		if err := c.Do(others, nil); err != nil {
			t.Fatal(err)
		}
		for _, op := range others {
			if err, _ := reflect.ValueOf(op).Elem().FieldByName("Err").Interface().(error); err != nil && op != none {
				t.Errorf("%T: %v", op, err)
			}
		}
		if content(t, get.Result) != 7.0 || !errors.Is(none.Err, couchbase.ErrDocumentNotFound) || count.Result.Content() != 3 {
			t.Errorf("%v %v %v", get.Result, none.Err, count.Result)
		}
		if err := c.Do([]couchbase.BulkOp{nil}, nil); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Errorf("%v", err)
		}
	})
}

func TestOperationsAfterClose(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if err := client.Close(nil); err != nil {
			t.Error(err)
		}
		if err := client.Close(nil); !errors.Is(err, couchbase.ErrShutdown) {
			t.Errorf("%v", err)
		}
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrShutdown) {
			t.Errorf("%v", err)
		}
	})
}

func TestAWrongPasswordIsSaidAtOnce(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{Authenticator: couchbase.PasswordAuthenticator{Username: "x", Password: "wrong"}})
		defer client.Close(nil)
		began := time.Now()
		_, err := client.Bucket("default").DefaultCollection().Get("a", nil)
		if !errors.Is(err, couchbase.ErrAuthenticationFailure) || errors.Is(err, couchbase.ErrTimeout) || time.Since(began) > 10*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// A seed that is in a black hole, or dead, does not hide that the other one refuses the password.
func TestAWrongPasswordIsSaidAlsoIfASeedIsDead(t *testing.T) {
	for node := range 2 {
		for name, end := range map[string]func(*couchbasetest.Cluster, int){
			"black hole": (*couchbasetest.Cluster).BlackHole, "dead": (*couchbasetest.Cluster).Kill,
		} {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
				end(server, node)
				client := connect(t, server, couchbase.ClusterOptions{Authenticator: couchbase.PasswordAuthenticator{Username: "u", Password: "wrong"}})
				defer client.Close(nil)
				began := time.Now()
				_, err := client.Bucket("default").DefaultCollection().Get("a", nil)
				if took := time.Since(began); !errors.Is(err, couchbase.ErrAuthenticationFailure) || took > 501*time.Millisecond {
					t.Errorf("%s of node %d: %v after %v", name, node, err, took)
				}
			}, couchbasetest.Nodes(2))
		}
	}
}

func TestABucketThatIsNotThereIsTheCauseOfTheTimeout(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		_, err := client.Bucket("none").DefaultCollection().Upsert("a", 1, nil)
		if !errors.Is(err, couchbase.ErrUnambiguousTimeout) || !errors.Is(err, couchbase.ErrBucketNotFound) {
			t.Errorf("%v", err)
		}
	})
}

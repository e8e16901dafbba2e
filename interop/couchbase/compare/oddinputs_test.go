package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// nodes is the number of nodes of the test server.
const nodes = 2

// bench is a client of a test server, and what the server has received.
type bench struct {
	server  *couchbasetest.Cluster
	cluster *gocb.Cluster
	bucket  *gocb.Bucket
	c       *gocb.Collection
}

// TestPrintOddInputs prints what becomes of arguments and options that are not as they should be.
func TestPrintOddInputs(t *testing.T) {
	b := newBench(t, gocb.IoConfig{})
	_, _ = b.c.Upsert("doc", map[string]any{"n": 1, "list": []int{1}}, nil)
	b.ids()
	b.noOptions()
	b.values()
	b.times()
	b.copies()
	b.contexts()
	b.parts()
	b.others()
	b.lostConnection()
	noTokens := newBench(t, gocb.IoConfig{DisableMutationTokens: true})
	noTokens.odd("PersistTo without mutation tokens", func() error { return second(noTokens.c.Upsert("doc", 1, &gocb.UpsertOptions{PersistTo: 1})) })
}

func newBench(t *testing.T, io gocb.IoConfig) *bench {
	server := couchbasetest.RunT(t, couchbasetest.Nodes(nodes))
	if _, err := server.CreateCollection("default", "_default", couchbasetest.Collection{Name: "named"}); err != nil {
		t.Fatal(err)
	}
	cluster, err := gocb.Connect(server.ConnectionString(), gocb.ClusterOptions{
		Authenticator: gocb.PasswordAuthenticator{Username: server.Username(), Password: server.Password()}, IoConfig: io,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(cluster) })
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(10*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	return &bench{server, cluster, bucket, bucket.DefaultCollection()}
}

// closed closes a client. gocb's Close waits for ever for an operation that has panicked, so it is not waited for.
func closed(cluster *gocb.Cluster) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cluster.Close(nil)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
	}
}

// commands are those of operations on documents.
var commands = []couchbasetest.Opcode{
	memd.OpGet, memd.OpSet, memd.OpAdd, memd.OpReplace, memd.OpDelete, memd.OpIncrement, memd.OpDecrement, memd.OpAppend, memd.OpPrepend, memd.OpTouch,
	memd.OpGetAndTouch, memd.OpGetLocked, memd.OpUnlock, memd.OpGetReplica, memd.OpGetMeta, memd.OpSubdocMultiLookup, memd.OpSubdocMultiMutation,
}

// received returns the number of requests for documents.
func (b *bench) received() (n int64) {
	all := b.server.Counters().Requests
	for _, op := range commands {
		n += all[op]
	}
	return n
}

// settle waits until the nodes have received what was sent to them before: the client has one connection to each.
func (b *bench) settle() {
	for node := range nodes {
		for i := 0; ; i++ {
			if key := fmt.Sprint("settle ", i); b.server.Owners("default", key)[0] == node {
				_, _ = b.c.Exists(key, &gocb.ExistsOptions{Timeout: time.Minute})
				break
			}
		}
	}
}

// odd prints the outcome of a call: the error, and whether anything was sent.
func (b *bench) odd(name string, run func() error) {
	b.settle()
	before := b.received()
	text := outcome(run)
	b.settle()
	sent := "nothing sent"
	if b.received() != before+nodes {
		sent = "sent"
	}
	line("odd "+name, "%s, %s", text, sent)
}

// ended prints the outcome of a call whose context ends: whether it was sent is chance.
func (b *bench) ended(name string, run func() error) { line("odd "+name, "%s", outcome(run)) }

// outcome says how a call ended.
func outcome(run func() error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("panic: %v", v)
		}
	}()
	return described(run())
}

// noEOF begins the text of an error about a lost connection that does not name EOF.
const noEOF = "the text has no EOF"

// described says what an error matches.
func described(err error) string {
	if err == nil {
		return "no error"
	}
	var matches []string
	for name, other := range map[string]error{"EOF": io.EOF, "Canceled": context.Canceled, "DeadlineExceeded": context.DeadlineExceeded} {
		if errors.Is(err, other) {
			matches = append(matches, name)
		}
	}
	var kv *gocb.KeyValueError
	var timeout *gocb.TimeoutError
	if errors.As(err, &kv) {
		matches = append(matches, "a KeyValueError")
	}
	if errors.As(err, &timeout) {
		matches = append(matches, "a TimeoutError")
	}
	slices.Sort(matches)
	if strings.HasPrefix(err.Error(), noEOF) {
		matches = append(matches, noEOF)
	}
	return strings.TrimSpace(sentinelsOf(err) + " " + strings.Join(matches, " "))
}

func (b *bench) ids() {
	c, long := b.c, 10*time.Second
	named := b.bucket.Collection("named")
	for name, id := range map[string]string{
		"an empty id": "", "an id of 251 bytes": strings.Repeat("k", 251), "an id of 250 bytes": strings.Repeat("k", 250),
		"an id that is not UTF-8": "\xff\xfe", "an id with a zero byte": "a\x00b",
	} {
		b.odd(name+", Upsert", func() error { return second(c.Upsert(id, map[string]any{"n": 1}, &gocb.UpsertOptions{Timeout: long})) })
		b.odd(name+", Get", func() error { return second(c.Get(id, &gocb.GetOptions{Timeout: long})) })
		b.odd(name+", Exists", func() error { return second(c.Exists(id, &gocb.ExistsOptions{Timeout: long})) })
		b.odd(name+", LookupIn", func() error {
			return second(c.LookupIn(id, []gocb.LookupInSpec{gocb.GetSpec("", nil)}, &gocb.LookupInOptions{Timeout: long}))
		})
		b.odd(name+", MutateIn", func() error {
			return second(c.MutateIn(id, []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{Timeout: long}))
		})
		b.odd(name+", Increment", func() error { return second(c.Binary().Increment(id, &gocb.IncrementOptions{Timeout: long})) })
		b.odd(name+", GetAnyReplica", func() error { return second(c.GetAnyReplica(id, &gocb.GetAnyReplicaOptions{Timeout: long})) })
		b.odd(name+", Remove", func() error { return second(c.Remove(id, &gocb.RemoveOptions{Timeout: long})) })
	}
	for _, n := range []int{246, 247} {
		b.odd(fmt.Sprintf("in a collection an id of %d bytes", n), func() error {
			return second(named.Upsert(strings.Repeat("k", n), 1, &gocb.UpsertOptions{Timeout: long}))
		})
	}
}

// noOptions calls each operation without options.
func (b *bench) noOptions() {
	c := b.c
	var cas gocb.Cas
	for _, call := range []struct {
		name string
		run  func() error
	}{
		{"Insert", func() error { return second(c.Insert("none yet", 1, nil)) }},
		{"Replace", func() error { return second(c.Replace("none yet", 1, nil)) }},
		{"Upsert", func() error { return second(c.Upsert("none yet", 1, nil)) }},
		{"Get", func() error { return second(c.Get("none yet", nil)) }},
		{"Exists", func() error { return second(c.Exists("none yet", nil)) }},
		{"Touch", func() error { return second(c.Touch("none yet", time.Hour, nil)) }},
		{"GetAndTouch", func() error { return second(c.GetAndTouch("none yet", time.Hour, nil)) }},
		{"GetAndLock", func() error {
			r, err := c.GetAndLock("none yet", time.Second, nil)
			if err == nil {
				cas = r.Cas()
			}
			return err
		}},
		{"Unlock", func() error { return c.Unlock("none yet", cas, nil) }},
		{"GetAnyReplica", func() error { return second(c.GetAnyReplica("none yet", nil)) }},
		{"GetAllReplicas", func() error {
			all, err := c.GetAllReplicas("none yet", nil)
			for err == nil && all.Next() != nil {
			}
			return err
		}},
		{"LookupIn", func() error { return second(c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec("n", nil)}, nil)) }},
		{"MutateIn", func() error { return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("o", 1, nil)}, nil)) }},
		{"LookupInAnyReplica", func() error {
			return second(c.LookupInAnyReplica("doc", []gocb.LookupInSpec{gocb.GetSpec("n", nil)}, nil))
		}},
		{"Increment", func() error { return second(c.Binary().Increment("a counter", nil)) }},
		{"Decrement", func() error { return second(c.Binary().Decrement("a counter", nil)) }},
		{"Append", func() error { return second(c.Binary().Append("none yet", []byte("1"), nil)) }},
		{"Prepend", func() error { return second(c.Binary().Prepend("none yet", []byte("1"), nil)) }},
		{"Remove", func() error { return second(c.Remove("none yet", nil)) }},
		{"Do", func() error { return c.Do([]gocb.BulkOp{&gocb.GetOp{ID: "doc"}}, nil) }},
	} {
		b.odd("no options, "+call.name, call.run)
	}
}

// panicking panics when it is encoded or decoded.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error)       { panic("a panic of the application") }
func (*panicking) UnmarshalJSON([]byte) error        { panic("a panic of the application") }
func (panicking) Encode(any) ([]byte, uint32, error) { panic("a panic of the application") }
func (panicking) Decode([]byte, uint32, any) error   { panic("a panic of the application") }

// failing fails to encode and to decode.
type failing struct{}

var errOwn = errors.New("an error of the application")

func (failing) Encode(any) ([]byte, uint32, error) { return nil, 0, errOwn }
func (failing) Decode([]byte, uint32, any) error   { return errOwn }

func (b *bench) values() {
	c, raw := b.c, gocb.NewRawBinaryTranscoder()
	noise := make([]byte, 20<<20+1)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise)
	upsert := func(name string, value any, t gocb.Transcoder) {
		b.odd("value: "+name, func() error {
			return second(c.Upsert("value", value, &gocb.UpsertOptions{Transcoder: t, Timeout: time.Minute}))
		})
	}
	upsert("nil", nil, nil)
	upsert("a nil pointer", (*int)(nil), nil)
	upsert("nil bytes", []byte(nil), raw)
	upsert("above 20 MiB", noise, raw)
	upsert("20 MiB", noise[:20<<20], raw)
	upsert("above 20 MiB, compressible", make([]byte, 20<<20+1), raw)
	upsert("not JSON: a func", func() {}, nil)
	upsert("not JSON: NaN", math.NaN(), nil)
	upsert("a value whose MarshalJSON panics", panicking{}, nil)
	upsert("a value with a transcoder that panics", 1, panicking{})
	upsert("a value with a transcoder that fails", 1, failing{})
	b.odd("Append of nil", func() error { return second(c.Binary().Append("doc2", nil, nil)) })
	b.odd("value: above 20 MiB, Append", func() error {
		return second(c.Binary().Append("doc", noise, &gocb.AppendOptions{Timeout: time.Minute}))
	})
	b.odd("value: above 20 MiB, MutateIn", func() error {
		text := strings.Repeat("x", 20<<20+1)
		return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("p", text, nil)}, &gocb.MutateInOptions{Timeout: time.Minute}))
	})
	b.odd("MutateIn of a value whose MarshalJSON panics", func() error {
		return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("p", panicking{}, nil)}, nil))
	})
	get := func(name string, t gocb.Transcoder, into any) {
		b.odd("content "+name, func() error {
			r, err := c.Get("doc", &gocb.GetOptions{Transcoder: t})
			if err != nil {
				return err
			}
			return r.Content(into)
		})
	}
	get("into nil", nil, nil)
	get("into what is no pointer", nil, 1)
	get("into a nil pointer", nil, (*int)(nil))
	get("into a value whose UnmarshalJSON panics", nil, new(panicking))
	get("with a transcoder that panics", panicking{}, new(any))
	get("with a transcoder that fails", failing{}, new(any))
	b.odd("after the panics", func() error { return second(c.Get("doc", nil)) })
}

func (b *bench) times() {
	c := b.c
	var expiry uint32
	b.server.Use(memd.OpSet, couchbasetest.Decide(func(r *couchbasetest.Request) couchbasetest.Fault {
		expiry, _ = memd.ParseUint32(r.Extras[4:])
		return couchbasetest.Fault{}
	}))
	for _, d := range []time.Duration{-time.Second, -1, 1, 100 * 365 * 24 * time.Hour} {
		b.odd(fmt.Sprintf("expiry %v, Upsert", d), func() error {
			expiry = 0
			return second(c.Upsert("expiring", 1, &gocb.UpsertOptions{Expiry: d}))
		})
		moment := fmt.Sprint(expiry)
		if expiry > 1<<20 {
			moment = "a moment in " + time.Unix(int64(expiry), 0).UTC().Format("2006")
		}
		line(fmt.Sprintf("odd expiry %v, as it is sent", d), "%s", moment)
		b.odd(fmt.Sprintf("expiry %v, Touch", d), func() error { return second(c.Touch("doc", d, nil)) })
		b.odd(fmt.Sprintf("expiry %v, Increment", d), func() error {
			return second(c.Binary().Increment(fmt.Sprint("expiring ", d), &gocb.IncrementOptions{Expiry: d, Initial: 1}))
		})
		_, _ = c.Upsert("doc", map[string]any{"n": 1, "list": []int{1}}, nil)
		b.odd(fmt.Sprintf("expiry %v, MutateIn", d), func() error {
			return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("e", 1, nil)}, &gocb.MutateInOptions{Expiry: d}))
		})
		_, _ = c.Upsert("doc", map[string]any{"n": 1, "list": []int{1}}, nil)
	}
	for _, d := range []time.Duration{-time.Second, 0, 1, 31 * time.Second, time.Hour} {
		b.odd(fmt.Sprintf("lock for %v", d), func() error {
			r, err := c.GetAndLock("doc", d, nil)
			if err == nil {
				err = c.Unlock("doc", r.Cas(), nil)
			}
			return err
		})
	}
	b.odd("Unlock with the CAS 0", func() error { return c.Unlock("doc", 0, nil) })
	b.odd("a negative timeout, Get", func() error { return second(c.Get("doc", &gocb.GetOptions{Timeout: -1})) })
	b.odd("a negative timeout, Upsert", func() error { return second(c.Upsert("doc", 1, &gocb.UpsertOptions{Timeout: -time.Second})) })
}

func (b *bench) copies() {
	c := b.c
	for _, o := range []gocb.UpsertOptions{{PersistTo: 9}, {ReplicateTo: 9}, {PersistTo: 3}, {ReplicateTo: 2}, {PersistTo: 2, ReplicateTo: 1}, {PersistTo: 1 << 40}} {
		name := fmt.Sprintf("more copies than there are: PersistTo %d, ReplicateTo %d", o.PersistTo, o.ReplicateTo)
		if o.PersistTo == 2 {
			name = "as many copies as there are"
		}
		b.odd(name+", Upsert", func() error { return second(c.Upsert("copied", 1, &o)) })
		b.odd(name+", Remove", func() error {
			return second(c.Remove("copied", &gocb.RemoveOptions{PersistTo: o.PersistTo, ReplicateTo: o.ReplicateTo}))
		})
	}
	b.server.SetReplicationLag(time.Hour)
	b.odd("ReplicateTo 1, but no replica gets the write", func() error {
		return second(c.Upsert("copied", 1, &gocb.UpsertOptions{ReplicateTo: 1, Timeout: 2 * time.Second}))
	})
	b.server.SetReplicationLag(0)
}

func (b *bench) contexts() {
	c := b.c
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer cancel()
	caused, cancelCause := context.WithCancelCause(context.Background())
	cancelCause(errOwn)
	for name, ctx := range map[string]context.Context{"cancelled": cancelled, "expired": expired, "cancelled with a cause": caused} {
		b.ended("a context that is "+name+", Get", func() error { return second(c.Get("doc", &gocb.GetOptions{Context: ctx})) })
		b.ended("a context that is "+name+", Upsert", func() error { return second(c.Upsert("doc3", 1, &gocb.UpsertOptions{Context: ctx})) })
		b.ended("a context that is "+name+", LookupIn", func() error {
			return second(c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec("n", nil)}, &gocb.LookupInOptions{Context: ctx}))
		})
		b.ended("replicas and a context that is "+name, func() error {
			return second(c.GetAnyReplica("doc", &gocb.GetAnyReplicaOptions{Context: ctx}))
		})
		b.ended("bulk operations and a context that is "+name, func() error {
			op := &gocb.GetOp{ID: "doc"}
			return errors.Join(c.Do([]gocb.BulkOp{op}, &gocb.BulkOpOptions{Context: ctx}), op.Err)
		})
		b.ended("a context that is "+name+", Query", func() error { return second(b.cluster.Query("SELECT 1", &gocb.QueryOptions{Context: ctx})) })
	}
	remove := b.server.Use(memd.OpGet, couchbasetest.Always(couchbasetest.Fault{Delay: 10 * time.Second}))
	for _, end := range []string{"cancelled", "expired"} {
		b.ended("a context that is "+end+" in flight", func() error {
			ctx, cancel := context.WithCancel(context.Background())
			if end == "expired" {
				ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond)
			} else {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			defer cancel()
			return second(c.Get("doc", &gocb.GetOptions{Context: ctx}))
		})
	}
	remove()
}

func (b *bench) parts() {
	c := b.c
	_, _ = c.Upsert("doc", map[string]any{"n": 1, "list": []int{1}}, nil)
	for _, n := range []int{0, 16, 17} {
		looks, changes := make([]gocb.LookupInSpec, n), make([]gocb.MutateInSpec, n)
		for i := range n {
			looks[i], changes[i] = gocb.GetSpec(fmt.Sprint("p", i), nil), gocb.UpsertSpec(fmt.Sprint("p", i), 1, nil)
		}
		b.odd(fmt.Sprintf("%d parts, LookupIn", n), func() error { return second(c.LookupIn("doc", looks, nil)) })
		b.odd(fmt.Sprintf("%d parts, MutateIn", n), func() error { return second(c.MutateIn("doc", changes, nil)) })
	}
	b.odd("a part of a look-up that is not there", func() error {
		r, err := c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec("n", nil), gocb.GetSpec("none", nil)}, nil)
		if err != nil {
			return err
		}
		return r.ContentAt(1, new(any))
	})
	b.odd("a part of a mutation that cannot be", func() error {
		return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("m", 1, nil), gocb.RemoveSpec("none", nil)}, nil))
	})
	b.odd("a path of 1,025 bytes", func() error {
		return second(c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec(strings.Repeat("p", 1025), nil)}, nil))
	})
	b.odd("a path with 33 levels", func() error {
		return second(c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec(strings.Repeat("p.", 32)+"p", nil)}, nil))
	})
	b.odd("a projection of an empty path", func() error { return second(c.Get("doc", &gocb.GetOptions{Project: []string{""}})) })
	b.odd("no projections", func() error { return second(c.Get("doc", &gocb.GetOptions{Project: []string{}})) })
	b.odd("content at -1 as an index", func() error {
		r, err := c.LookupIn("doc", []gocb.LookupInSpec{gocb.GetSpec("n", nil)}, nil)
		if err != nil {
			return err
		}
		return r.ContentAt(^uint(0), new(any))
	})
}

func (b *bench) others() {
	c, long := b.c, 10*time.Second
	b.odd("Increment by 0", func() error { return second(c.Binary().Increment("odd", &gocb.IncrementOptions{Initial: 1})) })
	b.odd("Increment by more than an int64", func() error {
		return second(c.Binary().Increment("odd", &gocb.IncrementOptions{Delta: math.MaxUint64}))
	})
	b.odd("Increment with a negative initial value", func() error {
		return second(c.Binary().Increment("odd 2", &gocb.IncrementOptions{Delta: 1, Initial: -5}))
	})
	b.odd("a ReadPreference that does not exist", func() error {
		return second(c.GetAnyReplica("doc", &gocb.GetAnyReplicaOptions{ReadPreference: 77, Timeout: long}))
	})
	b.odd("a ReadPreference without a server group", func() error {
		return second(c.GetAnyReplica("doc", &gocb.GetAnyReplicaOptions{ReadPreference: gocb.ReadPreferenceSelectedServerGroup, Timeout: long}))
	})
	b.odd("a StoreSemantic that does not exist", func() error {
		return second(c.MutateIn("doc", []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: 9}))
	})
	b.odd("an insert with a CAS", func() error {
		return second(c.MutateIn("new", []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsInsert, Cas: 5}))
	})
	b.odd("a timeout below 1.5 s of a write with a level", func() error {
		remove := b.server.Use(memd.OpSet, couchbasetest.Always(couchbasetest.Fault{Delay: 800 * time.Millisecond}))
		defer remove()
		return second(c.Upsert("odd 3", 1, &gocb.UpsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority, Timeout: 100 * time.Millisecond}))
	})
	b.odd("an expiry that is set and preserved", func() error {
		return second(c.Upsert("doc", 1, &gocb.UpsertOptions{Expiry: time.Hour, PreserveExpiry: true}))
	})
	b.odd("no bulk operations", func() error { return c.Do(nil, nil) })
	b.odd("a bucket without a name", func() error {
		return second(b.cluster.Bucket("").DefaultCollection().Get("doc", &gocb.GetOptions{Timeout: long}))
	})
	for _, names := range [][2]string{{"_default", ""}, {"", "_default"}, {"", ""}, {"", "named"}} {
		b.odd(fmt.Sprintf("empty names, scope %q and collection %q", names[0], names[1]), func() error {
			_, _ = b.bucket.Collection("named").Upsert("doc", 1, nil)
			return second(b.bucket.Scope(names[0]).Collection(names[1]).Get("doc", &gocb.GetOptions{Timeout: long}))
		})
	}
	b.odd("a collection with a name that cannot be", func() error {
		return second(b.bucket.Scope("_default").Collection("a.b").Get("doc", &gocb.GetOptions{Timeout: time.Second}))
	})
	b.odd("an empty statement", func() error { return second(b.cluster.Query("", &gocb.QueryOptions{Timeout: long})) })
}

// lostConnection prints the errors of operations whose connections end.
func (b *bench) lostConnection() {
	for name, f := range map[string]couchbasetest.Fault{
		"after the request": {LoseRequest: true}, "before the reply": {LoseReply: true}, "in the reply": {LoseReply: true, CutReplyAfter: 10},
	} {
		remove := b.server.Use(memd.OpIncrement, couchbasetest.FaultOnce(f))
		b.odd("a connection that ends "+name, func() error {
			_, err := b.c.Binary().Increment("lost", &gocb.IncrementOptions{Delta: 1, Initial: 1})
			if err != nil && !strings.Contains(err.Error(), "EOF") {
				err = fmt.Errorf("%s: %w", noEOF, err)
			}
			return err
		})
		remove()
		_ = b.bucket.WaitUntilReady(10*time.Second, nil)
	}
}

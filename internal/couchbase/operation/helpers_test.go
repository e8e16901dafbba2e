package operation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

const ms = time.Millisecond

// answer is what a scripted node answers: a status, with or without more.
type answer = memd.Packet

// nodeScript answers by a function, which gets the number of the request, from 0, on all nodes together.
type nodeScript func(host string, n int, r memd.Packet) (answer, bool)

// world is a client, open on a bucket, in front of scripted nodes.
type world struct {
	*nodescript.Cluster
	t      *testing.T
	nodes  map[string]*nodescript.Node
	client *cluster.Cluster
	bucket *cluster.Bucket
	runner *operation.Runner
	log    *eventLog
	others sync.WaitGroup // operations beside that of the test

	mu       sync.Mutex
	received int
}

// eventLog is an observer that writes each retry and refusal on a line.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *eventLog) Observe(_ context.Context, e retry.Event) {
	if e.Kind != retry.EventDecided {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%d %v %v %v", e.Attempt, e.Reason, e.StopReason, e.Delay))
}

func (l *eventLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// setup changes the world before the client is opened.
type setup func(w *world, c *cluster.Config, o *operation.Config)

// newest is the map of the world's bucket: vbucket 0 is on a, with its replica on b; vbucket 1 is on b.
func newest(revision int64) nodescript.Map {
	return nodescript.Map{Epoch: 1, Revision: revision, Bucket: "bucket", Hosts: []string{"a", "b"}, VBuckets: [][]int{{0, 1}, {1, 0}}}
}

// moved is newest with vbucket 0 on b.
func moved(revision int64) nodescript.Map {
	m := newest(revision)
	m.VBuckets = [][]int{{1, 0}, {1, 0}}
	return m
}

// keyOf0 and keyOf1 are keys of the vbuckets 0 and 1.
var keyOf0, keyOf1 = keyOf(0), keyOf(1)

func keyOf(vbucket uint16) []byte {
	for i := range 100 {
		if key := fmt.Appendf(nil, "key%d", i); memd.VBucket(key, 2) == vbucket {
			return key
		}
	}
	panic("no key")
}

// inWorld runs a test in a bubble. Everything must have ended after it.
func inWorld(t *testing.T, script nodeScript, f func(w *world), setups ...setup) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{Cluster: nodescript.New(memnet.Config{}), t: t, nodes: make(map[string]*nodescript.Node), log: new(eventLog)}
		config := cluster.Config{Shuffle: func(int, func(i, j int)) {}, PollInterval: -1}
		for _, h := range []string{"a", "b"} {
			n := &nodescript.Node{Host: h, ErrorMap: errorMap}
			if script != nil {
				n.Script = func(r memd.Packet) (memd.Packet, bool) {
					w.mu.Lock()
					number := w.received
					w.received++
					w.mu.Unlock()
					return script(h, number, r)
				}
			}
			w.nodes[h] = w.Start(n)
			config.Seeds = append(config.Seeds, n.Address())
		}
		w.SetMap(newest(1))
		config.KV = kv.Config{Dial: w.DialContext, Agent: "test", Features: nodescript.Features, Timeout: time.Second}
		o := operation.Config{Observer: w.log}
		for _, s := range setups {
			s(w, &config, &o)
		}
		w.open(config, o)
		defer w.close()
		f(w)
	})
}

// errorMap is the nodes': 0xff01 is temporary, 0xff02 is not, 0xff03 and 0xff05 end the connection.
const errorMap = `{"version":2,"revision":1,"errors":{
	"82":{"name":"ENOMEM","attrs":["temp","retry-later"]},"85":{"name":"EBUSY","attrs":["temp","retry-now"]},"25":{"name":"NOT_INITIALIZED","attrs":["conn-state-invalidated"]},
	"ff01":{"name":"LATER","desc":"try later","attrs":["retry-later"]},"ff02":{"name":"NEVER","attrs":["support"]},
	"ff03":{"name":"BROKEN","attrs":["conn-state-invalidated"]},"ff04":{"name":"NEWMAP","attrs":["fetch-config"]},"ff05":{"name":"SPECIAL","attrs":["special-handling"]},
	"ff06":{"name":"FUTURE","attrs":["not-invented-yet","retry-now"]},"ff07":{"name":"AUTO","attrs":["auto-retry"]}}}`

func (w *world) open(config cluster.Config, o operation.Config) {
	w.t.Helper()
	var err error
	if w.client, err = cluster.Open(config); err != nil {
		w.t.Fatal(err)
	}
	w.bucket = w.client.Bucket("bucket")
	if w.runner, err = operation.NewRunner(o); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	w.ClearLog()
}

func (w *world) close() {
	w.client.Close()
	for _, n := range w.nodes {
		n.Stop()
	}
	synctest.Wait()
}

// missing makes the nodes have no such buckets.
func (w *world) missing(buckets ...string) {
	for _, n := range w.nodes {
		n.Change(func() { n.Missing = buckets })
	}
}

// get describes a Get, and increment an operation that is not idempotent.
func (w *world) get(key []byte) *operation.Operation {
	return &operation.Operation{Name: "get", Opcode: memd.OpGet, Idempotency: operation.IdempotencyOf(memd.OpGet), Collection: w.collection(), Key: key}
}

func (w *world) increment(key []byte) *operation.Operation {
	return &operation.Operation{
		Name: "increment", Opcode: memd.OpIncrement, Collection: w.collection(), Key: key,
		Extras: memd.AppendCounter(nil, memd.Counter{Delta: 1}),
	}
}

func (w *world) collection() *cluster.Collection {
	return w.bucket.Collection(cluster.DefaultName, cluster.DefaultName)
}

// do runs an operation with a timeout of 2.5 s.
func (w *world) do(q *operation.Operation) (operation.Result, *operation.Error) {
	w.t.Helper()
	return w.within(context.Background(), 2500*ms, q)
}

func (w *world) within(ctx context.Context, timeout time.Duration, q *operation.Operation) (operation.Result, *operation.Error) {
	w.t.Helper()
	var r operation.Result
	err := w.runner.Run(ctx, timeout, q, &r)
	if err == nil {
		return r, nil
	}
	var e *operation.Error
	if !errors.As(err, &e) {
		w.t.Fatalf("the error is a %T: %v", err, err)
	}
	return r, e
}

// requests returns the requests that nodes received, as "0s a Get".
func (w *world) requests() []string {
	var all []string
	for _, e := range w.Log() {
		all = append(all, e.String())
	}
	return all
}

// only returns the parts of the requests before the opcode.
func (w *world) where() string {
	var all []string
	for _, e := range w.Log() {
		all = append(all, fmt.Sprintf("%v@%s", e.After, e.Host))
	}
	return strings.Join(all, " ")
}

// status is the script that answers with a status the first times, then with success.
func status(s memd.Status, times int) nodeScript {
	return func(_ string, n int, _ memd.Packet) (answer, bool) {
		if n < times {
			return answer{Status: s}, true
		}
		return answer{Value: []byte("value")}, true
	}
}

const always = 1 << 30

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// features are those that the nodes accept.
func features() []memd.Feature { return nodescript.Features }

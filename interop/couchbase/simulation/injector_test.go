package simulation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// injector lets the planned faults happen: to the first messages about the document of the operation that a fault is for. Key-value
// requests do not name their operation, so it may be the message of another worker about the same document.
type injector struct {
	settings
	server  *couchbasetest.Cluster
	plan    plan
	history *history
	repairs simlife.Repairs

	mu      sync.Mutex
	left    [][]planned          // by worker, those that have not happened yet
	armed   map[string]*planned  // by document, those that wait for a message about it
	busy    bool                 // the cluster is broken
	waiting []planned            // for the cluster to be whole
	amounts map[requestID]uint64 // what requests add to counters or subtract
	lost    map[int64]bool       // the entries of the journal that were lost
	hits    []hit
}

// requestID names a request as the journal does.
type requestID struct {
	node   int
	conn   int64
	opaque uint32
	key    string
}

// hit is a fault that happened.
type hit struct {
	planned
	key string
	at  time.Duration
}

func newInjector(s settings, server *couchbasetest.Cluster, h *history) *injector {
	p := newPlan(s)
	i := &injector{
		settings: s, server: server, plan: p, history: h, armed: make(map[string]*planned), amounts: make(map[requestID]uint64),
		lost: make(map[int64]bool),
	}
	for _, list := range p {
		i.left = append(i.left, slices.Clone(list))
	}
	return i
}

// arm lets the fault of an operation wait for a message about the operation's document. It returns nil if there is none.
func (i *injector) arm(worker, number int, doc string) *planned {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.left[worker]
	if i.repairs.Over() || len(list) == 0 || number < list[0].number || i.armed[doc] != nil {
		return nil
	}
	f := list[0]
	i.left[worker], i.armed[doc] = list[1:], &f
	return &f
}

// disarm ends the wait of a fault at the end of its operation: the fault is then for the worker's next one.
func (i *injector) disarm(f *planned, doc string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.armed[doc] == f {
		delete(i.armed, doc)
		i.left[f.worker] = append([]planned{*f}, i.left[f.worker]...)
	}
}

// handle is the middleware.
func (i *injector) handle(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
	f := i.arrived(r)
	if f == nil {
		return next(r)
	}
	k := kindOfFault(f.kind)
	if k.cluster != nil {
		struck := false // only this goroutine uses it
		strike := func() {
			struck = true
			i.strike(f, r.Key, i.member(r.Node))
		}
		at := couchbasetest.Fault{Before: strike}
		if f.after {
			at = couchbasetest.Fault{After: strike}
		}
		reply := couchbasetest.Always(at)(r, next)
		if !struck { // its moment did not come, because the connection ended
			i.postpone(f)
		}
		return reply
	}
	i.hit(f, r.Key)
	return k.message(i, f, r)(r, next)
}

// arrived returns the fault of a message, nil if it has none.
func (i *injector) arrived(r *couchbasetest.Request) *planned {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.Opcode == memd.OpIncrement || r.Opcode == memd.OpDecrement {
		if c, err := memd.ParseCounter(r.Extras); err == nil {
			i.amounts[requestID{r.Node, r.ConnID, r.Opaque, r.Key}] = c.Delta
		}
	}
	if i.repairs.Over() {
		return nil
	}
	if !i.busy && len(i.waiting) > 0 {
		f := i.waiting[0]
		i.waiting = i.waiting[1:]
		return &f
	}
	f := i.armed[r.Key]
	if f == nil || kindOfFault(f.kind).onWrites && !isWrite(r.Opcode) {
		return nil
	}
	if f.times--; f.times <= 0 {
		delete(i.armed, r.Key)
	}
	return f
}

// isWrite reports whether the journal has the requests of an opcode.
func isWrite(op couchbasetest.Opcode) bool {
	return slices.Contains([]memd.Opcode{
		memd.OpSet, memd.OpAdd, memd.OpReplace, memd.OpDelete, memd.OpAppend, memd.OpPrepend, memd.OpIncrement, memd.OpDecrement,
		memd.OpSubdocMultiMutation,
	}, op)
}

// outstanding reports whether planned faults have not happened yet.
func (i *injector) outstanding() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.waiting) > 0 || slices.ContainsFunc(i.left, func(list []planned) bool { return len(list) > 0 })
}

func (i *injector) hit(f *planned, key string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hits = append(i.hits, hit{planned: *f, key: key, at: time.Since(i.history.begin)})
}

// postpone lets a fault wait for a message while the cluster is whole.
func (i *injector) postpone(f *planned) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting = append(i.waiting, *f)
}

// strike breaks the cluster, or lets the fault wait if the cluster is broken already.
func (i *injector) strike(f *planned, key string, node int) {
	i.mu.Lock()
	if i.repairs.Over() || i.busy {
		i.waiting = append(i.waiting, *f)
		i.mu.Unlock()
		return
	}
	i.busy = true
	i.mu.Unlock()
	i.hit(f, key)
	repair := kindOfFault(f.kind).cluster(i, f, node)
	i.repairs.Later(f.hold, func() {
		repair()
		i.mu.Lock()
		i.busy = false
		i.mu.Unlock()
	})
}

// finish lets no more faults happen, and waits until all is repaired.
func (i *injector) finish() error {
	i.repairs.Finish()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return i.server.WaitIdle(ctx)
}

// must notes an error of the cluster, which no fault may lead to.
func (i *injector) must(what string, err error) {
	if err != nil {
		i.history.violated("simulation", "%s: %v", what, err)
	}
}

// losing calls f, which may undo writes, and notes what it has undone.
func (i *injector) losing(crash bool, f func()) {
	l := loss{crash: crash, began: i.history.clock.Add(1)}
	f()
	l.ended = i.history.clock.Add(1)
	journal := i.server.Journal()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, e := range journal {
		if e.Lost && !i.lost[e.Seq] {
			l.lost = append(l.lost, e.Seq)
		}
		i.lost[e.Seq] = e.Lost // a replica that takes over may have what a dead node had lost
	}
	i.history.mu.Lock()
	defer i.history.mu.Unlock()
	i.history.losses = append(i.history.losses, l)
}

func (i *injector) kill(node int) { i.losing(true, func() { i.server.Kill(node) }) }
func (i *injector) failover(node int) {
	i.losing(false, func() { i.must("Failover", i.server.Failover(node)) })
}

// members returns the nodes that are in the cluster.
func (i *injector) members() (list []int) {
	for node, s := range i.server.State().Nodes {
		if s.Member {
			list = append(list, node)
		}
	}
	return list
}

// member returns a node that is in the cluster: this one if it is.
func (i *injector) member(node int) int {
	list := i.members()
	if slices.Contains(list, node) {
		return node
	}
	return list[node%len(list)]
}

// other returns another member than a node.
func (i *injector) other(f *planned, node int) int {
	list := slices.DeleteFunc(i.members(), func(n int) bool { return n == node })
	return list[f.choice%len(list)]
}

// rebalance moves vbuckets one by one, with a pause after each.
func (i *injector) rebalance(f *planned, eject ...int) {
	r, err := i.server.StartRebalance(eject...)
	i.must("StartRebalance", err)
	if err != nil {
		return
	}
	for r.Move() {
		simlife.Pause(time.Duration(f.choice%7) * 3 * time.Millisecond)
	}
	r.Finish()
}

// back brings a node that was failed over back, with vbuckets of its own.
func (i *injector) back(f *planned, node int) {
	i.must("AddBack", i.server.AddBack(node))
	i.rebalance(f)
}

func (h hit) String() string {
	return fmt.Sprintf("%v %s at %q, after %t, hold %v, choice %d", h.at, h.kind, h.key, h.after, h.hold, h.choice)
}

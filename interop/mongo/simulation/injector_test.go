package simulation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongotest"
)

// injector finds the messages of the operations and lets the planned faults happen to them.
type injector struct {
	settings
	rs      *mongotest.Deployment
	plan    plan
	history *history
	routers *routers // nil if the clients reach the members themselves
	repairs simlife.Repairs

	mu       sync.Mutex
	left     [][]planned    // by worker, those that have not happened yet
	messages map[string]int // of an operation, so far
	arrivals map[string]int // of a call, messages
	// concernFailed are the calls that were answered with a write concern error.
	concernFailed map[string]bool
	transactions  map[string]string // the call of a session's transaction
	busy          bool              // the cluster is broken
	waiting       []planned         // for the cluster to be whole
	hits          []hit
}

// hit is a fault that happened.
type hit struct {
	planned
	call string
	at   time.Duration
}

func newInjector(s settings, rs *mongotest.Deployment, r *routers, h *history) *injector {
	p := make(plan, s.Workers)
	if !s.calm {
		p = newPlan(s)
	}
	i := &injector{
		settings: s, rs: rs, routers: r, plan: p, history: h, messages: make(map[string]int), arrivals: make(map[string]int),
		transactions: make(map[string]string), concernFailed: make(map[string]bool),
	}
	for _, list := range p {
		i.left = append(i.left, append([]planned(nil), list...))
	}
	return i
}

// handle is the middleware.
func (i *injector) handle(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	id, ok := i.callOf(r)
	if !ok {
		return next(r)
	}
	next = i.observed(id, next)
	f := i.arrived(id)
	if f == nil {
		return next(r)
	}
	k := i.kindOfFault(f.kind)
	if k.cluster != nil {
		struck := false // only this goroutine uses it
		strike := func() {
			if !struck {
				struck = true
				i.strike(f, id, r.Member)
			}
		}
		reply := strikeAt(f.moment, strike)(r, next)
		if !struck { // its moment did not come, because the connection ended
			i.postpone(f)
		}
		return reply
	}
	m := k.message(i, f, r)
	if m == nil {
		i.putBack(f)
		return next(r)
	}
	i.hit(f, id)
	return m(r, next)
}

// observed notes write concern errors.
func (i *injector) observed(id string, next mongotest.Handler) mongotest.Handler {
	return func(r *mongotest.Request) *mongotest.Reply {
		reply := next(r)
		if reply != nil && reply.Body.Lookup("writeConcernError").Type != 0 {
			i.mu.Lock()
			i.concernFailed[id] = true
			i.mu.Unlock()
		}
		return reply
	}
}

// strikeAt returns middleware that strikes at a moment, at the end if that moment does not come.
func strikeAt(at moment, strike func()) mongotest.Middleware {
	switch at {
	case before:
		return mongotest.Always(mongotest.Fault{Before: strike})
	case afterApply:
		return mongotest.Always(mongotest.Fault{AfterApply: strike, After: strike})
	case after:
		return mongotest.Always(mongotest.Fault{After: strike})
	}
	panic("no such moment")
}

// callOf returns the call to which a message belongs, by its comment or, where the command has none, by its transaction.
func (i *injector) callOf(r *mongotest.Request) (string, bool) {
	id, has := r.Body.Lookup("comment").StringValueOK()
	if r.TxnNumber < 0 {
		return id, has
	}
	transaction := sessionOf(r.LSID) + strconv.FormatInt(r.TxnNumber, 10)
	i.mu.Lock()
	defer i.mu.Unlock()
	if has {
		i.transactions[transaction] = id
		return id, true
	}
	id, has = i.transactions[transaction]
	return id, has
}

func sessionOf(lsid bson.Raw) string { return string(lsid.Lookup("id").Value) }

// operationOf returns the operation of a call's id.
func operationOf(id string) (operation string, worker, number int, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return "", 0, 0, false
	}
	w, err := strconv.Atoi(parts[0])
	n, err2 := strconv.Atoi(parts[1])
	return parts[0] + "." + parts[1], w, n, err == nil && err2 == nil
}

// arrived counts a message, and returns its fault if there is one.
func (i *injector) arrived(id string) *planned {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.arrivals[id]++
	op, worker, number, ok := operationOf(id)
	if !ok || i.repairs.Over() {
		return nil
	}
	nth := i.messages[op]
	i.messages[op]++
	if !i.busy && len(i.waiting) > 0 {
		f := i.waiting[0]
		i.waiting = i.waiting[1:]
		return &f
	}
	list := i.left[worker]
	if len(list) == 0 || number < list[0].number || nth < list[0].message && number == list[0].number {
		return nil
	}
	f := list[0]
	if isSilent(f.kind) && number > f.number+slide {
		i.left[worker] = list[1:] // its operation may have no deadline
		return nil
	}
	if f.times > 1 {
		list[0].times--
		list[0].message = nth + 1
	} else {
		i.left[worker] = list[1:]
	}
	return &f
}

// outstanding reports whether planned faults have not happened yet.
func (i *injector) outstanding() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.waiting) > 0 || slices.ContainsFunc(i.left, func(list []planned) bool { return len(list) > 0 })
}

func (i *injector) putBack(f *planned) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.left[f.worker] = append([]planned{*f}, i.left[f.worker]...)
}

func (i *injector) hit(f *planned, id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hits = append(i.hits, hit{planned: *f, call: id, at: time.Since(i.history.begin)})
}

// postpone lets a fault wait for a message while the cluster is whole.
func (i *injector) postpone(f *planned) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting = append(i.waiting, *f)
}

// strike breaks the cluster, or lets the fault wait if the cluster is broken already.
func (i *injector) strike(f *planned, id string, member int) {
	i.mu.Lock()
	if i.repairs.Over() || i.busy {
		i.waiting = append(i.waiting, *f)
		i.mu.Unlock()
		return
	}
	i.busy = true
	i.mu.Unlock()
	i.hit(f, id)
	repair := i.kindOfFault(f.kind).cluster(i, f, member)
	i.repairs.Later(f.hold, func() {
		repair()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if _, err := i.rs.WaitPrimary(ctx); err != nil {
			i.history.violated("simulation", "no primary after %q: %v", f.kind, err)
		}
		i.mu.Lock()
		i.busy = false
		i.mu.Unlock()
	})
}

// finish lets no more faults happen, and repairs all.
func (i *injector) finish() {
	i.repairs.Finish()
	i.rs.Heal()
	for m := range i.rs.Members() {
		i.rs.Restart(m)
		i.rs.SetLag(m, 0)
		for _, name := range []string{mongotest.FailCommand, mongotest.FailWrite, mongotest.FailGetMore} {
			i.rs.ClearFailPoint(m, name)
		}
	}
}

func (h hit) String() string {
	return fmt.Sprintf("%v %s at %s, moment %d, hold %v, choice %d", h.at, h.kind, h.call, h.moment, h.hold, h.choice)
}

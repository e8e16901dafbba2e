package prove

import (
	"context"
	"sync"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// injector does what the plan says to the messages of one cell, and notes what really happened.
type injector struct {
	ctx      context.Context //nolint:containedctx // middleware is called without one; it ends when the cell is broken off
	plan     plan
	referee  *referee
	site     site
	database string
	twoSteps bool
	mend     sync.WaitGroup // the goroutines that heal what a fault broke

	mu      sync.Mutex
	seen    map[part]int // messages of each step
	refused map[OpID]*hit
	hits    []*hit
	harm    error // a fault or its healing that failed
	armed   bool  // the outage is to begin
	dark    bool  // it has begun
	over    bool  // the load has ended: the cluster is not broken any more
}

// hit is a fault that was done to a message.
type hit struct {
	part
	planned
	connID    int64
	requestID int32
	done      bool // it happened
	healed    bool // if it broke the cluster: there was a primary again
}

func newInjector(ctx context.Context, p plan, r *referee, s site, database string, twoSteps bool) *injector {
	return &injector{
		ctx: ctx, plan: p, referee: r, site: s, database: database, twoSteps: twoSteps,
		seen: make(map[part]int), refused: make(map[OpID]*hit),
	}
}

// intercept decides about one message. It runs on the connection's goroutine.
func (i *injector) intercept(r *mongotest.Request) mongotest.Fault {
	if r.Database != i.database {
		return mongotest.Fault{}
	}
	p, ok := partOfCommand(r.Body)
	if !ok {
		return mongotest.Fault{}
	}
	attempt, armed := i.count(p)
	if armed {
		return i.blackout(i.newHit(r, p, planned{kind: Outage}))
	}
	f, ok := i.plan.of(p.op)
	if !ok || !f.strikes(i.twoSteps, p.step, attempt) {
		return mongotest.Fault{}
	}
	switch {
	case f.kind == CommandRefused && attempt > 0:
		return i.refuseAgain(p)
	case f.kind.breaksCluster():
		return i.breakCluster(i.newHit(r, p, f))
	}
	return i.oneMessage(i.newHit(r, p, f))
}

func (i *injector) newHit(r *mongotest.Request, p part, f planned) *hit {
	return &hit{part: p, planned: f, connID: r.ConnID, requestID: r.RequestID}
}

// count returns the number of the step's earlier messages, and whether the outage is to begin.
func (i *injector) count(p part) (attempt int, armed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	attempt = i.seen[p]
	i.seen[p]++
	return attempt, i.armed && !i.dark
}

// oneMessage is a fault that concerns no other message.
func (i *injector) oneMessage(h *hit) mongotest.Fault {
	if !i.referee.permit(h.op) {
		return mongotest.Fault{}
	}
	happened := func() { i.happened(h) }
	switch h.kind {
	case RequestLost:
		return mongotest.Fault{Before: happened, LoseRequest: true}
	case ReplyLost:
		return mongotest.Fault{After: happened, LoseReply: true}
	case CommandRefused:
		i.mu.Lock()
		i.refused[h.op] = h
		i.mu.Unlock()
		return mongotest.Fault{Before: happened, Error: refusal(h.code)}
	case ServerOverloaded:
		return mongotest.Fault{Before: happened, Error: overload()}
	case SteppedDown, PrimaryKilled, Partitioned, Outage: // not of one message
	}
	return mongotest.Fault{}
}

// refuseAgain answers every further attempt of a refused operation.
func (i *injector) refuseAgain(p part) mongotest.Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	if h := i.refused[p.op]; h != nil && h.step == p.step {
		return mongotest.Fault{Error: refusal(h.code)}
	}
	return mongotest.Fault{}
}

func refusal(code int32) *mongotest.CommandError {
	for _, r := range refusals {
		if r.code == code {
			return &mongotest.CommandError{Code: r.code, Name: r.name, Message: r.message}
		}
	}
	return nil
}

func overload() *mongotest.CommandError {
	return &mongotest.CommandError{
		Code: 462, Name: "IngressRequestRateLimitExceeded", Message: "the server rejects requests, to protect itself",
		Labels: []string{"SystemOverloadedError", "RetryableError"},
	}
}

// breakCluster is a fault of the whole cluster: claimed on receipt, done at its moment.
func (i *injector) breakCluster(h *hit) mongotest.Fault {
	if !i.referee.claim(i.ctx, h.op) {
		return mongotest.Fault{}
	}
	strike := func() { i.strike(h) }
	switch h.moment {
	case beforeExecution:
	case afterApply:
		return mongotest.Fault{AfterApply: strike}
	case afterCommit:
		return mongotest.Fault{After: strike, LoseReply: true}
	}
	return mongotest.Fault{Before: strike}
}

// strike breaks the cluster and has it healed. If it cannot, nothing has happened, and nothing is counted.
func (i *injector) strike(h *hit) {
	if !i.mayStrike() {
		return
	}
	defer i.mend.Done()
	repair, err := i.site.strike(h.kind)
	if err != nil {
		return
	}
	i.referee.broke()
	i.happened(h)
	i.mend.Go(func() { i.heal(h, repair) })
}

// mayStrike reports whether the load is still on, and if so makes finish wait for the strike.
func (i *injector) mayStrike() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.over {
		i.mend.Add(1)
	}
	return !i.over
}

// finish lets no further fault break the cluster, and waits until it is healed.
func (i *injector) finish() {
	i.mu.Lock()
	i.over = true
	i.mu.Unlock()
	i.mend.Wait()
}

// warmUp lets faults fire once every writer has been served.
func (i *injector) warmUp() {
	i.mend.Go(func() {
		i.failed(i.referee.everyWriter(i.ctx))
		i.referee.mended()
	})
}

// heal waits until the cluster has a primary again and has served every writer, repairs it, and lets it prove itself.
func (i *injector) heal(h *hit, repair func()) {
	err := i.site.awaitPrimary(i.ctx)
	if err == nil && repair != nil {
		err = i.referee.everyWriter(i.ctx)
		repair()
		if err == nil {
			err = i.site.awaitPrimary(i.ctx)
		}
	}
	if err == nil {
		err = i.referee.everyWriter(i.ctx)
	}
	i.mu.Lock()
	h.healed = err == nil
	i.mu.Unlock()
	i.failed(err)
	i.referee.mended()
}

// endLoad has the outage begin with the next message that finds the cluster whole.
func (i *injector) endLoad() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed = true
}

// blackout makes everything unreachable, once no other operation is in trouble. While the cluster is still healing it
// leaves that to a later message.
func (i *injector) blackout(h *hit) mongotest.Fault {
	if !i.referee.claim(i.ctx, h.op) {
		return mongotest.Fault{}
	}
	i.mu.Lock()
	i.dark = true
	i.mu.Unlock()
	i.referee.finish()
	return mongotest.Fault{LoseRequest: true, Before: func() {
		i.site.blackout()
		i.happened(h)
	}}
}

func (i *injector) isDark() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dark
}

func (i *injector) happened(h *hit) {
	i.mu.Lock()
	defer i.mu.Unlock()
	h.done = true
	i.hits = append(i.hits, h)
}

func (i *injector) failed(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.harm == nil {
		i.harm = err
	}
}

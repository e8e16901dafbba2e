package prove

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// injector applies the faults of the plan to the messages of one cell, and records the faults that really happened.
type injector struct {
	ctx      context.Context //nolint:containedctx // middleware has no context parameter; it ends when the cell is cancelled
	plan     plan
	referee  *referee
	site     site
	database string
	twoSteps bool
	// countsPlanned is a defect: every planned fault counts as one that happened.
	countsPlanned bool
	healing       sync.WaitGroup // the goroutines that heal the cluster

	mu      sync.Mutex
	seen    map[part][]messageID // the messages of each step, in their order
	refused map[OpID]*hit
	hits    []*hit
	failure error     // the first error of a fault or of healing
	armed   bool      // the next message begins the outage
	dark    time.Time // the begin of the outage
	over    bool      // the load has ended: no more faults of the cluster
}

// hit is a fault of a message.
type hit struct {
	part
	planned
	message messageID
	at      time.Time // the time at which the message arrived
	done    bool      // the fault happened
	healed  bool      // for a fault of the cluster: there was a primary again
}

func newInjector(ctx context.Context, p plan, r *referee, s site, database string, twoSteps bool) *injector {
	return &injector{
		ctx: ctx, plan: p, referee: r, site: s, database: database, twoSteps: twoSteps,
		seen: make(map[part][]messageID), refused: make(map[OpID]*hit),
	}
}

// intercept returns the fault for one message. It runs on the connection's goroutine.
func (i *injector) intercept(r *mongotest.Request) mongotest.Fault {
	if r.Database != i.database {
		return mongotest.Fault{}
	}
	p, ok := partOfCommand(r.Body)
	if !ok {
		return mongotest.Fault{}
	}
	attempt, armed := i.count(p, messageID{r.ConnID, r.RequestID})
	if armed {
		return i.blackout(i.newHit(r, p, planned{kind: Outage}))
	}
	f, ok := i.plan.of(p.op)
	if !ok || !f.strikes(i.twoSteps, p.step, attempt) {
		return mongotest.Fault{}
	}
	if f.kind == CommandRefused && attempt > 0 {
		return i.refuseAgain(p)
	}
	h := i.newHit(r, p, f)
	if i.countsPlanned {
		i.happened(h)
	}
	if f.kind.breaksCluster() {
		return i.breakCluster(h)
	}
	return i.oneMessage(h)
}

func (i *injector) newHit(r *mongotest.Request, p part, f planned) *hit {
	return &hit{part: p, planned: f, message: messageID{r.ConnID, r.RequestID}, at: time.Now()}
}

// count returns the number of earlier messages of the step, and reports whether this message begins the outage.
func (i *injector) count(p part, id messageID) (attempt int, armed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	attempt = len(i.seen[p])
	i.seen[p] = append(i.seen[p], id)
	return attempt, i.armed && i.dark.IsZero()
}

// oneMessage returns a fault that affects one message only.
func (i *injector) oneMessage(h *hit) mongotest.Fault {
	if !i.referee.permit(h.op, h.kind) {
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
	case SteppedDown, PrimaryKilled, Partitioned, Outage: // these affect the cluster
	}
	return mongotest.Fault{}
}

// refuseAgain returns the same command error to a later attempt of a refused operation.
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

// breakCluster returns a fault of the whole cluster. The referee is asked when the message arrives; the fault happens
// at its moment.
func (i *injector) breakCluster(h *hit) mongotest.Fault {
	if !i.mayBreak(h) {
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

// mayBreak asks the referee.
func (i *injector) mayBreak(h *hit) bool {
	if h.follows {
		return i.referee.claimAfterRetry(i.ctx, h.op)
	}
	return i.referee.claim(i.ctx, h.op, h.kind)
}

// strike breaks the cluster and starts the healing. If that fails, the fault does not count.
func (i *injector) strike(h *hit) {
	if !i.mayStrike() {
		return
	}
	defer i.healing.Done()
	repair, err := i.site.strike(h.kind)
	if err != nil {
		return
	}
	i.referee.broke()
	i.happened(h)
	i.healing.Go(func() { i.heal(h, repair) })
}

// mayStrike reports whether the load is still running. If so, finish waits for the strike.
func (i *injector) mayStrike() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.over {
		i.healing.Add(1)
	}
	return !i.over
}

// finish allows no more faults of the cluster, and waits until it is healed.
func (i *injector) finish() {
	i.mu.Lock()
	i.over = true
	i.mu.Unlock()
	i.healing.Wait()
}

// warmUp allows faults as soon as every writer has had an operation acknowledged.
func (i *injector) warmUp() {
	i.healing.Go(func() {
		i.failed(i.referee.everyWriter(i.ctx))
		i.referee.mended()
	})
}

// heal waits until there is a primary again and every writer has had an operation acknowledged. Then it repairs the
// cluster and waits for both again.
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

// endLoad makes the next message begin the outage, as soon as the cluster is whole.
func (i *injector) endLoad() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed = true
}

// blackout makes all servers unreachable as soon as no other operation has a fault. If the cluster is not whole, it
// does nothing: a later message begins the outage.
func (i *injector) blackout(h *hit) mongotest.Fault {
	if !i.mayBreak(h) {
		return mongotest.Fault{}
	}
	i.mu.Lock()
	i.dark = time.Now()
	i.mu.Unlock()
	i.referee.finish()
	return mongotest.Fault{LoseRequest: true, Before: func() {
		i.site.blackout()
		i.happened(h)
	}}
}

// darkSince returns the begin of the outage. It is zero if there is none yet.
func (i *injector) darkSince() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dark
}

func (i *injector) happened(h *hit) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !h.done {
		h.done = true
		i.hits = append(i.hits, h)
	}
}

func (i *injector) failed(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failure == nil {
		i.failure = err
	}
}

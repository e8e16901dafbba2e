package prove

import (
	"context"
	"errors"
	"sync"
	"time"
)

// injector applies the faults of the plan to the messages of one cell, and records the faults that really happened.
type injector struct {
	ctx      context.Context //nolint:containedctx // middleware has no context parameter; it ends when the cell is cancelled
	plan     plan
	referee  *referee
	site     site
	document func(OpID) string
	twoSteps bool
	// goal returns how often the load aims at a kind of fault.
	goal    func(FaultKind) int
	healing sync.WaitGroup // the goroutines that heal the cluster

	began time.Time // of the load

	mu      sync.Mutex
	seen    map[part][]messageID // the messages of each step, in their order
	arrived map[messageID]time.Time
	refused map[OpID]*hit
	ending  map[OpID]*hit // the faults that happen when their operation has ended
	delayed map[OpID]*delayed
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
	struck  time.Time // the time at which it happened
	healed  bool      // for a fault of the cluster: it accepted writes again
	// For a fault of the cluster, the times at which it accepted writes again, and was repaired. They are zero if it did not come to that.
	writable, repaired time.Time
	// others are the other messages of the operation of a delayed one.
	others []messageID
}

func newInjector(ctx context.Context, p plan, r *referee, s site, document func(OpID) string, twoSteps bool) *injector {
	return &injector{
		ctx: ctx, plan: p, referee: r, site: s, document: document, twoSteps: twoSteps, began: time.Now(),
		seen: make(map[part][]messageID), arrived: make(map[messageID]time.Time), refused: make(map[OpID]*hit), ending: make(map[OpID]*hit), delayed: make(map[OpID]*delayed),
	}
}

// intercept returns the fault for one message. It runs on the connection's goroutine.
func (i *injector) intercept(m message) treatment {
	attempt, armed := i.count(m)
	if armed {
		if dark, begins := i.blackout(newHit(m, planned{kind: Outage})); begins {
			return dark
		}
	}
	f, ok := i.plan.of(m.op)
	if !ok || !f.strikes(i.twoSteps, m.step, attempt) {
		return treatment{}
	}
	if f.kind == CommandRefused && attempt > 0 {
		return i.refuseAgain(m.part)
	}
	h := newHit(m, f)
	if f.kind.breaksCluster() {
		return i.breakCluster(h)
	}
	return i.oneMessage(h)
}

func newHit(m message, f planned) *hit {
	return &hit{part: m.part, planned: f, message: m.id, at: time.Now()}
}

// count returns the number of earlier messages of the step, and reports whether this message begins the outage.
func (i *injector) count(m message) (attempt int, armed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	attempt = len(i.seen[m.part])
	i.seen[m.part] = append(i.seen[m.part], m.id)
	i.arrived[m.id] = time.Now()
	return attempt, i.armed && i.dark.IsZero()
}

// oneMessage returns a fault that affects one message only.
func (i *injector) oneMessage(h *hit) treatment {
	if !i.referee.permit(h.op, h.kind) {
		return treatment{}
	}
	happened := func() { i.happened(h) }
	switch {
	case h.kind == RequestLost:
		return treatment{before: happened, loseRequest: true}
	case h.kind == ReplyLost:
		return treatment{after: happened, loseReply: true}
	case h.kind == RequestDelayed:
		return i.delay(h)
	case h.kind == CommandRefused:
		i.mu.Lock()
		i.refused[h.op] = h
		i.mu.Unlock()
	case h.late():
		return treatment{after: happened, answer: &h.planned}
	}
	return treatment{before: happened, refuse: &h.planned}
}

// refuseAgain returns the same command error to a later attempt of a refused operation.
func (i *injector) refuseAgain(p part) treatment {
	i.mu.Lock()
	defer i.mu.Unlock()
	if h := i.refused[p.op]; h != nil && h.step == p.step {
		return treatment{refuse: &h.planned}
	}
	return treatment{}
}

// breakCluster returns a fault of the whole cluster, unless there were enough: each keeps all others away for hundreds of operations. The
// referee is asked when the message arrives; the fault happens at its moment.
func (i *injector) breakCluster(h *hit) treatment {
	if i.sated(h.planned) || !i.mayBreak(h) {
		return treatment{}
	}
	strike := func() { i.strike(h) }
	switch h.moment {
	case beforeExecution:
	case afterApply:
		return treatment{afterApply: strike}
	case afterCommit, afterReplication:
		return treatment{after: strike, loseReply: h.losesReply()}
	case afterAcknowledgement:
		i.mu.Lock()
		i.ending[h.op] = h
		i.mu.Unlock()
		return treatment{}
	}
	if h.kind == BlackHoled {
		strike = func() { i.swallow(h) }
	}
	return treatment{before: strike, loseRequest: h.losesRequest()}
}

// swallow begins a black hole with a message that arrives only at its end.
func (i *injector) swallow(h *hit) {
	i.strike(h)
	_ = i.site.awaitWritable(i.ctx) // if it fails, the healing has the error
}

// ended is called when an operation has ended, before the referee knows. If it was acknowledged, its fault may happen now. Its delayed
// message arrives.
func (i *injector) ended(id OpID, acknowledged bool) {
	i.deliver(id)
	i.mu.Lock()
	h := i.ending[id]
	delete(i.ending, id)
	i.mu.Unlock()
	if h != nil && acknowledged {
		i.strike(h)
	}
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
	if !i.referee.breaks(h.op) {
		return
	}
	repair, err := i.site.strike(&h.planned, i.document(h.op))
	if err != nil {
		i.referee.mended()
		return
	}
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

// heal waits until the cluster accepts writes again and every writer has had an operation acknowledged. Then it repairs the
// cluster and waits for both again.
func (i *injector) heal(h *hit, repair func() error) {
	err := i.site.awaitWritable(i.ctx)
	if err == nil {
		i.passed(&h.writable)
	}
	if err == nil && repair != nil {
		err = errors.Join(i.referee.everyWriter(i.ctx), repair())
		i.passed(&h.repaired)
		if err == nil {
			err = i.site.awaitWritable(i.ctx)
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

// blackout makes all servers unreachable as soon as no other operation has a fault. If the cluster is not whole, or the message's own operation
// has a fault, the outage does not begin: a later message begins it, and the plan decides about this one.
func (i *injector) blackout(h *hit) (dark treatment, begins bool) {
	if !i.mayBreak(h) {
		return treatment{}, false
	}
	i.mu.Lock()
	i.dark = time.Now()
	i.mu.Unlock()
	i.referee.finish()
	return treatment{loseRequest: true, before: func() {
		i.site.blackout()
		i.happened(h)
	}}, true
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
		h.done, h.struck = true, time.Now()
		i.hits = append(i.hits, h)
	}
}

// passed sets a time of a hit.
func (i *injector) passed(at *time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	*at = time.Now()
}

func (i *injector) failed(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failure == nil {
		i.failure = err
	}
}

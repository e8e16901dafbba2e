package prove

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// maxStoryEvents is the largest number of events of a story.
const maxStoryEvents = 24

// executedAtOnce is the longest time between the arrival and the execution of a message that are one event.
const executedAtOnce = 2 * time.Millisecond

// teller collects the events of one operation from its record, its messages, the servers' journal, and the faults.
type teller struct {
	*cell
	record
	book     *book
	journal  map[messageID]entry
	events   []StoryEvent
	messages int           // number of messages so far
	told     map[*hit]bool // the faults of the cluster that stand among the events
}

// tell returns the events. It returns an error if they differ from the journal.
func (t *teller) tell() ([]StoryEvent, error) {
	t.add(StoryEvent{Kind: OperationBegan}, t.began)
	for n := range t.tries {
		t.call(n)
	}
	t.add(StoryEvent{Kind: OperationEnded, Error: textOf(t.err), Claim: t.claim}, t.ended)
	t.cluster()
	t.swept()
	slices.SortStableFunc(t.events, func(a, b StoryEvent) int { return cmp.Compare(a.At, b.At) })
	t.countApplications()
	return shortened(t.events), t.compare()
}

// countApplications counts, in the order of the events, how often the operation was applied: a message that the network delays is executed after
// the messages that were sent later.
func (t *teller) countApplications() {
	times := 0
	for i := range t.events {
		if t.events[i].Message.Effect == Applies {
			times++
		}
		if t.events[i].settles() {
			t.events[i].Message.Times = times
		}
	}
}

func (t *teller) add(e StoryEvent, at time.Time) {
	e.At = at.Sub(t.injector.began)
	t.events = append(t.events, e)
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// shortened replaces events in the middle of a long story by one that counts them.
func shortened(events []StoryEvent) []StoryEvent {
	const last = 7
	first := maxStoryEvents - last - 1
	omitted := len(events) - first - last
	if len(events) <= maxStoryEvents {
		return events
	}
	gap := StoryEvent{Kind: EventsOmitted, Number: omitted, At: events[first].At}
	return slices.Concat(events[:first], []StoryEvent{gap}, events[first+omitted:])
}

// call adds a call of the client, and the messages that reached the servers before the next call for the same step.
func (t *teller) call(n int) {
	one := t.tries[n]
	name := t.strategy.stepName(one.step)
	until := t.nextCall(n)
	t.add(StoryEvent{Kind: CallBegan, Step: name, Number: n + 1}, one.began)
	for _, id := range t.injector.seen[part{t.id, one.step}] {
		if at := t.injector.arrived[id]; at.After(one.began) && (until.IsZero() || !at.After(until)) {
			t.message(id, one.step)
		}
	}
	t.add(StoryEvent{Kind: CallEnded, Step: name, Number: n + 1, Error: textOf(one.err), Claim: one.claim()}, one.ended)
}

// nextCall returns the begin of the next call for the same step, or zero.
func (t *teller) nextCall(n int) (began time.Time) {
	for _, later := range t.tries[n+1:] {
		if later.step == t.tries[n].step {
			return later.began
		}
	}
	return began
}

// claim returns the effect of the call, as far as the application knows it.
func (t *try) claim() Claim {
	if t.err == nil {
		return Applied
	}
	return t.trouble.Claim
}

// message adds what happened to a message, and the fault of the cluster that it met.
func (t *teller) message(id messageID, step Step) {
	t.messages++
	h := t.hitOf(id)
	arrived := t.injector.arrived[id]
	executed, found := t.journal[id]
	event := StoryEvent{Kind: MessageArrived, Step: t.strategy.stepName(step), Number: t.messages, Message: StoryMessage{Server: -1, id: id}}
	if found {
		event.Message.Server = executed.server
	}
	if h != nil && !h.ofCluster() {
		event.Fault = &h.kind
	}
	if at := t.executionOf(h, executed.at); at.Sub(arrived) > executedAtOnce || t.waits(h) {
		event.Message.Effect = Pending
		t.add(event, arrived)
		if t.waits(h) {
			t.struck(h, t.messages)
		}
		event.Kind, arrived = MessageExecuted, latest(arrived, at)
	}
	t.executed(&event, h, executed, found)
	t.add(event, arrived)
	if h != nil && h.ofCluster() && h.moment != afterAcknowledgement {
		t.struck(h, t.messages)
	}
}

// waits reports whether a message waited while the fault of the cluster that it met happened.
func (t *teller) waits(h *hit) bool {
	return h != nil && h.kind.breaksCluster() && h.moment == beforeExecution
}

// executionOf returns the time of a message's execution. The journal of some servers has that of its arrival.
func (t *teller) executionOf(h *hit, journalled time.Time) time.Time {
	switch {
	case !t.waits(h):
		return journalled
	case h.kind == BlackHoled:
		return latest(journalled, h.writable)
	}
	return latest(journalled, h.struck)
}

// swept adds the messages of the sweep that applied the operation.
func (t *teller) swept() {
	for i := range t.book.journal {
		e := &t.book.journal[i]
		if _, own := t.injector.arrived[e.id]; own || !e.applied || e.key != t.id.String() {
			continue
		}
		t.add(StoryEvent{Kind: Swept, Message: StoryMessage{Server: e.server, Effect: Applies, Lost: e.lost, id: e.id}}, e.at)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// executed sets the effect of a message on its server.
func (t *teller) executed(event *StoryEvent, h *hit, e entry, found bool) {
	m := &event.Message
	if m.Effect = t.effect(event, h, e, found); m.Effect == Declined {
		event.Error = t.refusal(h, e)
	}
	if event.Error == "" {
		event.Error = e.failure
	}
	m.Lost = e.lost
	m.NoReply = e.troubled && !e.failed || h != nil && h.kind == ReplyLost
}

func (t *teller) effect(event *StoryEvent, h *hit, e entry, found bool) Effect {
	switch {
	case t.injector.refused[t.id] != nil && t.strategy.stepName(t.injector.refused[t.id].step) == event.Step:
		return Declined
	case h != nil && (h.kind == ServerOverloaded || h.kind == TemporaryFailure):
		return Declined
	case e.requestLost && !e.failed, h != nil && (h.kind == RequestLost || h.kind == Outage), t.book.known && !found:
		return NotExecuted
	case !found:
		return EffectUnknown
	case e.repeated:
		return Repeated
	case e.applied && e.key != "":
		return Applies
	case e.applied:
		return Changed
	case e.failed:
		return Declined
	}
	return Unchanged
}

// refusal returns the error with which a server refused a message.
func (t *teller) refusal(h *hit, e entry) string {
	refused := t.injector.refused[t.id]
	switch {
	case e.failure != "":
		return e.failure
	case refused != nil:
		return fmt.Sprintf("error %d", refused.code)
	case h != nil:
		return h.kind.String()
	}
	return ""
}

// hitOf returns the fault that a message met, or nil.
func (t *teller) hitOf(id messageID) *hit {
	for _, h := range t.injector.hits {
		if h.message == id {
			return h
		}
	}
	return nil
}

// ofCluster reports whether the fault is a state of the cluster that passes.
func (h *hit) ofCluster() bool { return h.kind.breaksCluster() || h.kind == Outage }

// struck adds a fault of the cluster, once. message is the number of the message that met it, or 0.
func (t *teller) struck(h *hit, message int) {
	if t.told[h] {
		return
	}
	t.told[h] = true
	e := StoryEvent{Kind: ClusterStruck, Fault: &h.kind, Number: message}
	if h.op == t.id {
		e.When = h.moment.String()
	}
	t.add(e, h.struck)
}

// cluster adds the states of the cluster between the first and the last event.
func (t *teller) cluster() {
	until := t.ended
	for _, e := range t.events {
		until = latest(until, t.injector.began.Add(e.At))
	}
	for _, h := range t.injector.hits {
		if !h.ofCluster() {
			continue
		}
		if h.op == t.id || h.struck.Before(until) && (h.struck.After(t.began) || h.lastsUntil(t.began)) || t.undone(h) {
			t.struck(h, 0)
			t.passing(h, until)
		}
	}
}

// lastsUntil reports whether a fault that struck before had not passed at a time.
func (h *hit) lastsUntil(at time.Time) bool {
	return h.struck.Before(at) && (!h.healed || !latest(h.writable, h.repaired).Before(at))
}

// undone reports whether a fault may have undone the operation: it is the first one that loses writes after its begin.
func (t *teller) undone(h *hit) bool {
	if t.book.lost[t.id] == 0 {
		return false
	}
	for _, one := range t.injector.hits {
		if one.ofCluster() && one.struck.After(t.began) {
			return one == h
		}
	}
	return false
}

// passing adds the moments at which a fault of the cluster passed.
func (t *teller) passing(h *hit, until time.Time) {
	for _, one := range []struct {
		kind EventKind
		at   time.Time
	}{{ClusterWritable, h.writable}, {ClusterRepaired, h.repaired}} {
		if !one.at.IsZero() && (!one.at.After(until) || t.undone(h)) {
			t.add(StoryEvent{Kind: one.kind, Fault: &h.kind}, one.at)
		}
	}
}

package prove

import (
	"slices"
	"time"
)

// The rule of the resilience article: an error of the network is worth one more attempt, an error that the server
// returns for the command itself is worth none. So one step of an operation needs
//
//   - one message, if nothing happens to it;
//   - one message and one try, if the server returns a command error;
//   - two messages, if there is a fault, and in an outage two tries.
//
// An operation without a fault, after a command error or in an outage has nothing to wait for except one server
// selection, so it ends within its timeout.
const (
	attemptsInCalm       = 1
	attemptsAfterRefusal = 1
	attemptsWithFault    = 2
)

// waste compares an operation with the rule, counts it if it exceeded the rule, and returns its flaw.
func (c *cell) waste(counts *Counts, r record, journal map[messageID]entry) (flaw Flaw) {
	wasted := time.Duration(0)
	for _, step := range []Step{FirstStep, SecondStep} {
		messages := c.injector.seen[part{r.id, step}]
		if len(messages) > c.messagesAllowed(r, step, journal) {
			flaw = FlawWasteful
		}
		if allowed := c.triesAllowed(r, step); allowed > 0 {
			if tries, settled := c.triesOf(r, step, allowed); tries > allowed {
				flaw, wasted = FlawWasteful, max(wasted, r.ended.Sub(settled))
			}
		}
	}
	if from, limited := c.waitsFrom(r); limited {
		took := r.ended.Sub(from)
		counts.SlowestSeconds = max(counts.SlowestSeconds, took.Seconds())
		if late := took - c.settings.Timing.ServerSelection; late > c.site.delay(attemptsWithFault) {
			flaw, wasted = FlawWasteful, max(wasted, late)
		}
	}
	counts.WastedSeconds += wasted.Seconds()
	if flaw != "" {
		counts.Overdone++
	}
	return flaw
}

// messagesAllowed returns the number of messages of a step that the rule allows.
func (c *cell) messagesAllowed(r record, step Step, journal map[messageID]entry) int {
	allowed := attemptsWithFault
	switch {
	case c.refused(r, step):
		allowed = attemptsAfterRefusal
	case r.calm && !c.troubled(r, step, journal):
		allowed = attemptsInCalm
	}
	return max(allowed, 1+c.unanswered(r, step, journal))
}

// unanswered returns the number of the step's messages that got no answer, by the servers' journal. Each is worth another one: beside the fault
// that the injector made, a machine under load may break a connection. Behind a router so is each that a member refused because it is no
// primary.
func (c *cell) unanswered(r record, step Step, journal map[messageID]entry) (n int) {
	if len(journal) == 0 {
		return 0
	}
	for _, id := range c.injector.seen[part{r.id, step}] {
		e, found := journal[id]
		if !found || e.troubled && !e.failed || e.changed && c.backend.refusedAgain {
			n++
		}
	}
	return n
}

// refused reports whether the injector has refused the step with a command error.
func (c *cell) refused(r record, step Step) bool {
	h := c.injector.refused[r.id]
	return h != nil && h.step == step
}

// troubled reports whether a message of the step had a trouble that is not the injector's, by the servers' journal. A
// machine under load may make a client's monitor break a connection.
func (c *cell) troubled(r record, step Step, journal map[messageID]entry) bool {
	if len(journal) == 0 {
		return false
	}
	for _, id := range c.injector.seen[part{r.id, step}] {
		if e, found := journal[id]; !found || e.troubled {
			return true
		}
	}
	return false
}

// triesAllowed returns the number of tries of a step that the rule allows the strategy, 0 if there is no limit.
func (c *cell) triesAllowed(r record, step Step) int {
	switch {
	case c.refused(r, step):
		return attemptsAfterRefusal
	case r.outage && r.err != nil:
		return attemptsWithFault
	default:
		return 0
	}
}

// waitsFrom returns the time from which an operation must end within the server selection timeout. limited is false if
// the rule does not limit its time.
func (c *cell) waitsFrom(r record) (from time.Time, limited bool) {
	h := c.injector.refused[r.id]
	switch {
	case h != nil:
		return h.at, true
	case r.calm:
		return r.began, true
	case !r.outage || r.err == nil:
		return from, false
	}
	if dark := c.injector.darkSince(); dark.After(r.began) {
		return dark, true
	}
	return r.began, true
}

// triesOf returns the number of tries of a step, and the end of the last one that is allowed. In an outage a try without a connection is not
// counted: the server has ended, and the client does not know that yet. The time of the operation limits these.
func (c *cell) triesOf(r record, step Step, allowed int) (tries int, settled time.Time) {
	for _, t := range r.tries {
		if t.step != step || r.outage && c.unconnected(r.id, t) {
			continue
		}
		tries++
		if tries == allowed {
			settled = t.ended
		}
	}
	return tries, settled
}

// unconnected reports whether a server was selected for a try, but connecting to it failed: none of the operation's messages arrived during
// the try. The client's error need not say so. It may have the labels of an overload, although no server answered (Client Backpressure).
func (c *cell) unconnected(id OpID, t try) bool {
	if t.err == nil || t.trouble.Kind != Network && t.trouble.Kind != Overload {
		return false
	}
	return !slices.ContainsFunc(c.injector.seen[part{id, t.step}], func(m messageID) bool {
		at := c.injector.arrived[m]
		return !at.Before(t.began) && !at.After(t.ended)
	})
}

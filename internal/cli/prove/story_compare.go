package prove

import (
	"fmt"
)

// compare returns an error if the story and the servers' journal differ about a message: each message of the operation is told once, with what the
// journal says that its server did. If they differ, the experiment itself has a defect.
func (t *teller) compare() error {
	if !t.book.known {
		return nil
	}
	told := make(map[messageID]int)
	for i := range t.events {
		e := &t.events[i]
		if !e.settles() {
			continue
		}
		told[e.Message.id]++
		journalled, found := t.journal[e.Message.id]
		if want := journalled.effect(found); e.Message.Effect != want || e.Message.Lost != journalled.lost {
			return fmt.Errorf("operation %s, message %d: its story says %s, lost later %t; the server's journal says %s, lost later %t",
				t.id, e.Number, e.Message.Effect, e.Message.Lost, want, journalled.lost)
		}
	}
	for _, step := range []Step{FirstStep, SecondStep} {
		for n, id := range t.injector.seen[part{t.id, step}] {
			if told[id] != 1 {
				return fmt.Errorf("operation %s, message %d of its step %d: its story has it %d times", t.id, n+1, step, told[id])
			}
		}
	}
	return nil
}

// effect returns what a server did with a message by its journal alone.
func (e *entry) effect(found bool) Effect {
	switch {
	case !found, e.requestLost && !e.failed: // Couchbase's nodes journal a refusal that is a fault as a lost request with a status
		return NotExecuted
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

// String returns the effect in words.
func (e Effect) String() string {
	return [...]string{"unknown", "executed later", "not executed", "refused", "repeated", "nothing to change", "changed", "applied"}[e]
}

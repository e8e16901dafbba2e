package prove

import (
	"errors"
	"slices"
	"time"
)

// Story is one operation of a cell, told by its events.
type Story struct {
	Operation string
	Writer    int
	Document  string
	// Flaws say what is wrong with the operation. If there are none, it met a fault and came out right.
	Flaws  []Flaw
	Claim  Claim // what the application knows at the end
	Failed bool  // the application got an error
	// Applied is how often the operation is applied at the end. Lost is how often it was applied on a node that was lost with it, or
	// rolled back.
	Applied, Lost int
	// Events are in the order of their times. There are at most maxStoryEvents of them.
	Events []StoryEvent
}

// EventKind is a kind of event of a story.
type EventKind uint8

// The kinds of events.
const (
	OperationBegan  EventKind = iota // the application called the strategy
	CallBegan                        // the strategy called the client
	MessageArrived                   // a message reached a server and, unless its effect is Pending, was executed or not
	MessageExecuted                  // a message that had arrived before was executed
	ClusterStruck                    // a fault of the cluster happened
	ClusterWritable                  // the cluster accepted writes again
	ClusterRepaired                  // what the fault took away came back
	CallEnded                        // the client returned
	OperationEnded                   // the strategy returned: for the application the outcome is settled
	Swept                            // a sweep after the load executed a message for the operation
	EventsOmitted                    // Number events are left out
)

// Effect is the effect of a message on its server, by the servers' journal.
type Effect uint8

// The effects.
const (
	EffectUnknown Effect = iota // there is no journal
	Pending                     // it was executed later
	NotExecuted                 // it was lost before its execution
	Declined                    // the server answered with an error, and changed nothing
	Repeated                    // the server answered from its record of the operation, and changed nothing
	Unchanged                   // it was executed, and there was nothing to change
	Changed                     // it changed the document, but did not apply the operation
	Applies                     // it applied the operation
)

// StoryEvent is one event of a story. At is the time since the begin of the cell's load.
type StoryEvent struct {
	Kind EventKind
	At   time.Duration
	// Step is the name of the step of a call or a message. Number counts the calls, or the messages, from 1. A fault of the cluster has that
	// of the message of this operation that met it.
	Step   string
	Number int
	// Error is the error of a call, of the operation, or of the reply to a message; "" if there was none.
	Error string
	Claim Claim // what a call or the operation showed to the application
	// Fault is the fault of the cluster, or the fault that this one message met; nil if there was none. When is the moment of a fault of
	// the cluster that this operation met.
	Fault *FaultKind
	When  string

	Message StoryMessage
}

// StoryMessage is what a server did with a message.
type StoryMessage struct {
	Server int // the member or the node, -1 if it is not known
	Effect Effect
	Times  int  // how often the operation was applied, up to this message
	Lost   bool // what it changed was lost later
	// NoReply means that the client did not get the reply.
	NoReply bool
	id      messageID
}

// settles reports whether the event tells what a server did in the end with a message.
func (e *StoryEvent) settles() bool {
	return e.Kind == MessageExecuted || e.Kind == Swept || e.Kind == MessageArrived && e.Message.Effect != Pending
}

// stories returns a story for each flaw of the result's examples or, if there is none, one of an operation that met a fault.
// It returns an error if a story differs from the journal.
func (c *cell) stories(result *Result, records []record, b *book, journal map[messageID]entry) (list []Story, err error) {
	tell := func(r record) {
		s, differs := c.story(r, b, journal)
		list, err = append(list, s), errors.Join(err, differs)
	}
	for _, e := range firstOfEachFlaw(result.Examples) {
		at := slices.IndexFunc(list, func(s Story) bool { return s.Operation == e.Operation })
		if at < 0 {
			at = len(list)
			tell(records[slices.IndexFunc(records, func(r record) bool { return r.id.String() == e.Operation })])
		}
		list[at].Flaws = append(list[at].Flaws, e.Flaw)
	}
	if r, found := c.survivor(records, journal); len(list) == 0 && found {
		tell(r)
	}
	return list, err
}

func firstOfEachFlaw(examples []Example) []Example {
	var first []Example
	for _, e := range examples {
		if !slices.ContainsFunc(first, func(f Example) bool { return f.Flaw == e.Flaw }) {
			first = append(first, e)
		}
	}
	return first
}

// survivor returns the first operation that met a fault: if there is one, a fault after the execution of its message.
func (c *cell) survivor(records []record, journal map[messageID]entry) (r record, found bool) {
	for _, late := range []bool{true, false} {
		for _, h := range c.injector.hits {
			at := slices.IndexFunc(records, func(r record) bool { return r.id == h.op })
			if at >= 0 && h.late() == late && (len(journal) == 0 || h.confirmed(journal, c.settings.W == One)) {
				return records[at], true
			}
		}
	}
	return r, false
}

func (c *cell) story(r record, b *book, journal map[messageID]entry) (Story, error) {
	t := teller{cell: c, record: r, book: b, journal: journal, told: make(map[*hit]bool)}
	events, err := t.tell()
	return Story{
		Operation: r.id.String(), Writer: r.id.Writer, Document: c.document(r.id), Claim: r.claim, Failed: r.err != nil,
		Applied: b.applied[r.id], Lost: b.lost[r.id], Events: events,
	}, err
}

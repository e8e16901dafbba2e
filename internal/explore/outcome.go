package explore

import (
	"slices"
	"time"
)

// Verdict is how a run ended.
type Verdict string

// The verdicts.
const (
	Held       Verdict = "held"        // every failure of the case happened, and what the program promised holds
	Broken     Verdict = "broken"      // what the program promised does not hold
	NotReached Verdict = "not reached" // the run never sent a message of the case, so it says nothing about the case
	Hung       Verdict = "hung"        // the run outlived its budget
	Leaked     Verdict = "leaked"      // goroutines of the run were left at its end
)

// Failing reports whether the run shows a mistake.
func (v Verdict) Failing() bool { return v == Broken || v == Hung || v == Leaked }

// Outcome is what one run showed.
type Outcome struct {
	Case     Case
	Verdict  Verdict
	Messages []Message // what the program sent, in the order of arrival
	// Struck are the places in Messages of the strikes that happened, in the order of the case.
	Struck   []int
	Log      []string // what the program logged
	Problems []string // what does not hold
	Events   []Event  // what happened, in its order
	Dump     string   // the goroutines of a run that hung or leaked
	Took     time.Duration
	// Unstoppable is whether the run still uses the processor, so that no other run may follow.
	Unstoppable bool
}

// after returns the messages that came after the last strike.
func (o *Outcome) after() []Message {
	if len(o.Struck) == 0 {
		return nil
	}
	return o.Messages[o.Struck[len(o.Struck)-1]+1:]
}

// missed reports whether a failure of the case has not happened.
func (o *Outcome) missed() bool { return len(o.Struck) < len(o.Case) }

// differs reports whether the messages before the first strike are others than those of the run without failures, in whatever order.
func (o *Outcome) differs(learned []Message) bool {
	if len(o.Struck) == 0 {
		return false
	}
	n := o.Struck[0]
	if n > len(learned) {
		return true
	}
	for _, m := range o.Messages[:n] {
		if !slices.ContainsFunc(learned[:n], m.Same) {
			return true
		}
	}
	return false
}

// Settle sets the verdict of a run that ended by itself, from its problems and its strikes.
func (o *Outcome) Settle() {
	switch {
	case o.Verdict != "":
	case len(o.Problems) > 0:
		o.Verdict = Broken
	case o.missed():
		o.Verdict = NotReached
	default:
		o.Verdict = Held
	}
}

package explorereport

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// tally counts runs by their verdicts.
type tally struct {
	held, broken, notReached int
	by                       []string // the failures that broke what the program promised
}

func (t *tally) add(o *explore.Outcome) {
	switch {
	case o.Verdict.Failing():
		t.broken++
		if len(o.Case) == 1 {
			t.by = append(t.by, o.Case[0].Failure)
		}
	case o.Verdict == explore.NotReached:
		t.notReached++
	default:
		t.held++
	}
}

func (t *tally) runs() int { return t.held + t.broken + t.notReached }

// perMessage returns the tally of the cases with one failure, for each message of the run without failures.
func (r *Report) perMessage() []tally {
	list := make([]tally, len(r.First.Messages))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if at := r.messageOf(o); at >= 0 && len(o.Case) == 1 {
			list[at].add(o)
		}
	}
	return list
}

// messageOf returns the place of the message of a case's first failure, -1 if the run without failures did not send it.
func (r *Report) messageOf(o *explore.Outcome) int {
	return slices.IndexFunc(r.First.Messages, o.Case[0].Message.Same)
}

// deeper is the tally of the cases with a number of failures, two or more.
type deeper struct {
	tally

	failures int
}

// Words returns what the tally is about.
func (d *deeper) Words() string { return fmt.Sprintf("%d failures, one after another", d.failures) }

// Counts returns the numbers in words.
func (d *deeper) Counts() string {
	return fmt.Sprintf("%d held, %d broken, %d not reached", d.held, d.broken, d.notReached)
}

func (r *Report) perDepth() (list []deeper) {
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		n := len(o.Case)
		if n < 2 {
			continue
		}
		at := slices.IndexFunc(list, func(d deeper) bool { return d.failures == n })
		if at < 0 {
			at = len(list)
			list = append(list, deeper{failures: n})
		}
		list[at].add(o)
	}
	return list
}

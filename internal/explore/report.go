package explore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Report is what an exploration found.
type Report struct {
	Failures []Failure
	Seed     int64
	Only     Case // the one case that was asked for; nil if all were
	First    Outcome
	Outcomes []Outcome // of the runs with failures, those that ended
	// Left is how many runs did not come about, because the exploration ended before.
	Left int
}

// add adds the outcomes of runs. Those without a verdict did not come about.
func (r *Report) add(outcomes []Outcome) {
	for _, o := range outcomes {
		if o.Verdict == "" {
			r.Left++
			continue
		}
		r.Outcomes = append(r.Outcomes, o)
	}
}

// stopped reports whether the exploration ended before its end.
func (r *Report) stopped() bool { return r.Left > 0 }

// Failing reports whether what the program promised was broken, nothing could be explored, or the one case that was asked for was not
// reached.
func (r *Report) Failing() bool {
	if r.First.Verdict.Failing() || r.stopped() || len(r.Outcomes) == 0 {
		return true
	}
	return len(r.Broken()) > 0 || r.Only != nil && r.Count(NotReached) > 0
}

// size orders the cases of broken runs.
func (o *Outcome) size() int {
	if o.missed() {
		return math.MaxInt
	}
	return len(o.Case)
}

// Count returns how many runs with failures have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for i := range r.Outcomes {
		if r.Outcomes[i].Verdict == v {
			n++
		}
	}
	return n
}

// Broken returns the runs that show a mistake, the smallest case first: the one with the fewest strikes, at the earliest message. Those
// whose failures have not all happened are the last.
func (r *Report) Broken() []*Outcome {
	var list []*Outcome
	for i := range r.Outcomes {
		if r.Outcomes[i].Verdict.Failing() {
			list = append(list, &r.Outcomes[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Outcome) int { return cmp.Compare(a.size(), b.size()) })
	return list
}

// Summary returns one line: how many runs, messages, and failures, and how many runs failed or said nothing.
func (r *Report) Summary() string {
	list := []string{
		count(len(r.Outcomes), "run"), count(len(r.First.Messages), "message"), count(len(r.Failures), "failure"),
		fmt.Sprintf("%d broken", len(r.Broken())), fmt.Sprintf("%d not reached", r.Count(NotReached)),
	}
	if r.stopped() {
		list = append(list, fmt.Sprintf("%d not run", r.Left))
	}
	return strings.Join(list, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Title returns the words for a failure.
func (r *Report) Title(name string) string {
	for i := range r.Failures {
		if r.Failures[i].Name == name {
			return r.Failures[i].Title
		}
	}
	return name
}

// Words returns a case in words, such as "message 7 of 12 (update shop.orders): the reply is lost after the server executed it".
func (r *Report) Words(c Case) string {
	list := make([]string, len(c))
	for i, s := range c {
		list[i] = fmt.Sprintf("%s: %s", r.place(s.Message), r.Title(s.Failure))
	}
	return strings.Join(list, ", then ")
}

// place returns which message it is, of those of the run without failures.
func (r *Report) place(m Message) string {
	at := slices.IndexFunc(r.First.Messages, m.Same)
	if at < 0 {
		return fmt.Sprintf("a message that the failure made the program send (%s)", m.Words())
	}
	return fmt.Sprintf("message %d of %d (%s)", at+1, len(r.First.Messages), m.Words())
}

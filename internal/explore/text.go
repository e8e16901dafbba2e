package explore

import (
	"fmt"
	"slices"
	"strings"
)

// How much of a report is text.
const (
	maxOthers = 40  // the lines about further cases
	maxEvents = 200 // the events of a run
)

// Text returns the report. Repeat returns the line that repeats one case alone, or "".
func (r *Report) Text(repeat func(Case) string) string {
	var b strings.Builder
	switch broken := r.Broken(); {
	case r.First.Verdict.Failing():
		b.WriteString("the run without any failure fails:\n")
		b.WriteString(r.First.Text())
	case r.First.Verdict == "":
		b.WriteString("the run without any failure was ended before its end\n")
	case len(broken) > 0:
		r.broken(&b, broken, repeat)
	case len(r.First.Messages) == 0:
		b.WriteString("the program sent no message, so there is nothing to explore\n")
	case len(r.Outcomes) == 0 && r.Left == 0:
		b.WriteString("no failure concerns any of the chosen messages, so there is nothing to explore\n")
	}
	if !r.First.Verdict.Failing() {
		r.notReached(&b)
		b.WriteString(r.Summary() + "\n")
	}
	return b.String()
}

// broken writes the smallest case that fails with all that happened, and one line for each of the others.
func (r *Report) broken(b *strings.Builder, broken []*Outcome, repeat func(Case) string) {
	smallest := broken[0]
	fmt.Fprintf(b, "%s:\n", r.Words(smallest.Case))
	b.WriteString(smallest.Text())
	if line := repeat(smallest.Case); line != "" {
		fmt.Fprintf(b, "repeat it alone:\n    %s\n", line)
	}
	if len(broken) == 1 {
		return
	}
	fmt.Fprintf(b, "and %s more:\n", count(len(broken)-1, "case"))
	for i, o := range broken[1:] {
		if i == maxOthers {
			fmt.Fprintf(b, "    ... and %d more\n", len(broken)-1-i)
			break
		}
		fmt.Fprintf(b, "    %s: %s\n", o.Case, o.Short())
	}
}

// notReached names the cases that say nothing.
func (r *Report) notReached(b *strings.Builder) {
	var names []string
	for i := range r.Outcomes {
		if r.Outcomes[i].Verdict == NotReached {
			names = append(names, r.Outcomes[i].Case.String())
		}
	}
	if len(names) == 0 {
		return
	}
	b.WriteString("not reached, which says nothing about them:\n")
	for i, name := range names {
		if i == maxOthers {
			fmt.Fprintf(b, "    ... and %d more\n", len(names)-i)
			return
		}
		fmt.Fprintf(b, "    %s\n", name)
	}
}

// Short returns the first line of what is wrong.
func (o *Outcome) Short() string {
	if len(o.Problems) == 0 {
		return string(o.Verdict)
	}
	line, _, _ := strings.Cut(o.Problems[0], "\n")
	return line
}

// Text returns what the program logged, what does not hold, and what happened.
func (o *Outcome) Text() string {
	var b strings.Builder
	for _, line := range slices.Concat(o.Log, o.Problems) {
		b.WriteString("    " + strings.ReplaceAll(strings.TrimRight(line, "\n"), "\n", "\n    ") + "\n")
	}
	if len(o.Events) > 0 {
		b.WriteString("what happened:\n")
	}
	for i := range o.Events {
		if i == maxEvents {
			fmt.Fprintf(&b, "    ... and %d more events\n", len(o.Events)-i)
			break
		}
		b.WriteString("    " + o.Events[i].String() + "\n")
	}
	if o.Dump != "" {
		b.WriteString("its goroutines:\n" + o.Dump + "\n")
	}
	return b.String()
}

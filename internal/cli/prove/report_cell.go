package prove

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// The marks beside a verdict: as expected or not, or neither because there is none.
const (
	tick      = "✓"
	cross     = "✗"
	noVerdict = "?"
	// failedMark marks operations that were applied and reported as failed.
	failedMark = "¹"
)

// painter colours the parts of a report.
type painter struct{ paint.Paint }

// verdict returns the marked and coloured verdict of a cell, with one line for each word.
func (p painter) verdict(r *Result) []string {
	mark, markStyle := tick, paint.Good
	if !r.AsExpected() {
		mark, markStyle = cross, paint.Odd
	}
	switch {
	case r.Unavailable != "":
		return []string{p.With(paint.Dim, r.Unavailable)}
	case r.Interrupted:
		return []string{p.With(paint.Dim, "interrupted")}
	case r.Busy:
		return []string{p.With(paint.Limit, noVerdict) + " " + p.With(paint.Limit, "no verdict")}
	case r.Error != "":
		return []string{p.With(markStyle, mark) + " " + p.With(paint.Odd, "error")}
	case r.NotShown != "":
		return []string{p.With(markStyle, mark) + " " + p.With(paint.Odd, "not shown")}
	}
	var lines []string
	elements := r.Verdict.Elements()
	for i, word := range r.Verdict.Words() {
		style := styleOf(elements[i])
		if i == 0 {
			lines = append(lines, p.With(markStyle, mark)+" "+p.With(style, word))
			continue
		}
		lines = append(lines, "  "+p.With(style, word))
	}
	return lines
}

// styleOf returns the style of an element of a verdict.
func styleOf(v Verdict) lipgloss.Style {
	switch {
	case v == Right:
		return paint.Good
	case v.IsRight():
		return paint.Limit
	}
	return paint.Bad
}

// expectation returns the expected verdict of a cell whose verdict is not as expected.
func (p painter) expectation(r *Result) []string {
	if r.AsExpected() || r.Error != "" || r.Interrupted || r.NotShown != "" || r.Busy {
		return nil
	}
	lines := []string{"  " + p.With(paint.Odd, "expected:")}
	for _, w := range r.Expected.Must.Words() {
		lines = append(lines, "  "+p.With(paint.Odd, w))
	}
	return lines
}

// counts returns a cell's numbers, a few to a line.
func (p painter) counts(r *Result) []string {
	lines := r.Summary()
	for i, l := range lines {
		lines[i] = p.With(paint.Dim, l)
	}
	return lines
}

// Summary returns the numbers of a cell that has ended, a few to a line. [Backend.Legend] explains them.
func (r *Result) Summary() []string {
	if r.Unavailable != "" || r.Error != "" || r.Interrupted || r.Busy {
		return nil
	}
	c := r.Counts
	lines := []string{fmt.Sprintf("-%d +%d of %d", c.Missing, c.Extra, c.Operations), fmt.Sprintf("%d hits", r.verified())}
	if c.FailedButApplied > 0 {
		lines = append(lines, fmt.Sprintf("%d failed%s", c.FailedButApplied, failedMark))
	}
	if c.Misreported > 0 {
		lines = append(lines, fmt.Sprintf("%d misreported", c.Misreported))
	}
	for _, one := range []struct {
		n    int
		name string
	}{{c.Ambiguous, "ambiguous"}, {c.Lost, "lost"}} {
		if one.n > 0 {
			lines = append(lines, fmt.Sprintf("%d %s", one.n, one.name))
		}
	}
	if c.Overdone > 0 {
		lines = append(lines, fmt.Sprintf("%d wasteful", c.Overdone), fmt.Sprintf("%.1f s wasted", c.WastedSeconds))
	}
	return lines
}

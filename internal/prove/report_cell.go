package prove

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// The marks beside a verdict: as expected or not.
const (
	tick  = "✓"
	cross = "✗"
	// failedMark marks operations that were applied and reported as failed.
	failedMark = "¹"
)

// paint colours a text if on is set.
type paint struct{ on bool }

func (p paint) with(style lipgloss.Style, text string) string {
	if !p.on {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = style.Render(strings.TrimRight(l, " "))
	}
	return strings.Join(lines, "\n")
}

var (
	good = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	// limit is for what is no fault of a strategy.
	limit = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	odd   = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true)
	dim   = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
)

// verdict returns the marked and coloured verdict of a cell, with one line for each word.
func (p paint) verdict(r *Result) []string {
	mark, markStyle := tick, good
	if !r.AsExpected() {
		mark, markStyle = cross, odd
	}
	switch {
	case r.Unavailable != "":
		return []string{p.with(dim, r.Unavailable)}
	case r.Interrupted:
		return []string{p.with(dim, "interrupted")}
	case r.Error != "":
		return []string{p.with(markStyle, mark) + " " + p.with(odd, "error")}
	case r.NotShown != "":
		return []string{p.with(markStyle, mark) + " " + p.with(odd, "not shown")}
	}
	var lines []string
	elements := r.Verdict.Elements()
	for i, word := range r.Verdict.Words() {
		style := styleOf(elements[i])
		if i == 0 {
			lines = append(lines, p.with(markStyle, mark)+" "+p.with(style, word))
			continue
		}
		lines = append(lines, "  "+p.with(style, word))
	}
	return lines
}

// styleOf returns the style of an element of a verdict.
func styleOf(v Verdict) lipgloss.Style {
	switch {
	case v == Right:
		return good
	case v.IsRight():
		return limit
	}
	return bad
}

// expectation returns the expected verdict of a cell whose verdict is not as expected.
func (p paint) expectation(r *Result) []string {
	if r.AsExpected() || r.Error != "" || r.Interrupted || r.NotShown != "" {
		return nil
	}
	lines := []string{"  " + p.with(odd, "expected:")}
	for _, w := range r.Expected.Must.Words() {
		lines = append(lines, "  "+p.with(odd, w))
	}
	return lines
}

// counts returns a cell's numbers, a few to a line.
func (p paint) counts(r *Result) []string {
	lines := r.Summary()
	for i, l := range lines {
		lines[i] = p.with(dim, l)
	}
	return lines
}

// Summary returns the numbers of a cell that has ended, a few to a line. [Backend.Legend] explains them.
func (r *Result) Summary() []string {
	if r.Unavailable != "" || r.Error != "" || r.Interrupted {
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

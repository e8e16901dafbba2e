package prove

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// The widths of the table's columns. On a terminal that is too narrow for the table the report is a list.
const (
	firstColumn    = 14
	narrowColumn   = 15 // of a strategy, at least
	widestColumn   = 16
	narrowestTable = 100
)

// WriteText writes the report as text, for a terminal with this number of columns.
func (r *Report) WriteText(w io.Writer, columns int, colour bool) error {
	p := painter{paint.Paint{On: colour}}
	body := r.list(p)
	if width := r.columnWidth(columns); width >= narrowColumn && columns >= narrowestTable && len(r.Strategies) > 1 {
		body = r.table(p, width)
	}
	parts := []string{body, p.paragraph(append([]string{marks}, r.Backend.Legend()...), columns), r.unexpected(p, columns), r.disturbed(p, columns), r.explored(p, columns), p.paragraph(r.Conditions(), columns)}
	parts = append(parts, p.With(paint.Bold, paint.Wrap(r.Conclusion(), columns)))
	var b strings.Builder
	for _, part := range parts {
		if part != "" {
			b.WriteString(part + "\n\n")
		}
	}
	if _, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n")); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// columnWidth returns the width of a strategy's column in a table of so many columns of the terminal.
func (r *Report) columnWidth(columns int) int {
	return min(widestColumn, (columns-firstColumn)/max(1, len(r.Strategies)))
}

// table has the failures as rows and the strategies as columns of a width.
func (r *Report) table(p painter, width int) string {
	t := table.New().Border(lipgloss.NormalBorder()).BorderRow(true).
		BorderLeft(false).BorderRight(false).BorderTop(false).BorderBottom(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			style := lipgloss.NewStyle().PaddingLeft(1).Width(width)
			if column == 0 {
				style = style.Width(firstColumn)
			}
			return style
		})
	if !p.On {
		t.BorderStyle(lipgloss.NewStyle())
	} else {
		t.BorderStyle(paint.Dim)
	}
	header := []string{""}
	for _, s := range r.Strategies {
		header = append(header, p.With(paint.Bold, lipgloss.Wrap(s.Title, width-1, " ")))
	}
	t.Row(header...)
	for f, failure := range r.Failures {
		row := []string{p.With(paint.Bold, failure.Title)}
		for s := range r.Strategies {
			row = append(row, p.cell(r.at(s, f)))
		}
		t.Row(row...)
	}
	return trimLines(t.String())
}

// cell returns the lines of one cell of the table.
func (p painter) cell(r *Result) string {
	lines := append(p.verdict(r), p.expectation(r)...)
	return strings.Join(append(lines, p.counts(r)...), "\n")
}

// list returns the report for narrow terminals: a line or two for each cell.
func (r *Report) list(p painter) string {
	width := 0
	for _, s := range r.Strategies {
		width = max(width, len(s.Title))
	}
	var b strings.Builder
	for f, failure := range r.Failures {
		if f > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.With(paint.Bold, failure.Title) + "\n")
		for s, strategy := range r.Strategies {
			c := r.at(s, f)
			lines := append(p.verdict(c), p.expectation(c)...)
			for i := range lines {
				lines[i] = strings.TrimSpace(lines[i])
			}
			fmt.Fprintf(&b, "  %-*s  %s\n", width, strategy.Title, strings.Join(lines, ", "))
			if counts := p.counts(c); counts != nil {
				fmt.Fprintf(&b, "  %*s    %s\n", width, "", strings.Join(counts, ", "))
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// marks explains the marks of the table.
const marks = tick + " the verdict is the expected one, " + cross + " it is not; green is right, red is wrong"

// paragraph returns lines as secondary text.
func (p painter) paragraph(lines []string, columns int) string {
	dimmed := make([]string, len(lines))
	for i, l := range lines {
		dimmed[i] = p.With(paint.Dim, paint.Wrap(l, columns))
	}
	return strings.Join(dimmed, "\n")
}

// unexpected returns an explanation of the cells that are not as expected.
func (r *Report) unexpected(p painter, columns int) string {
	var lines []string
	for _, c := range r.Unexpected() {
		if c.Interrupted {
			continue
		}
		why := fmt.Sprintf("%s, expected %s", c.Verdict, c.Expected)
		switch {
		case c.Error != "":
			why = c.Error
		case c.NotShown != "":
			why = "not shown: " + c.NotShown
		}
		lines = append(lines, paint.Wrap(fmt.Sprintf("%s %s, %s: %s", p.With(paint.Odd, cross), c.Failure, c.Strategy, why), columns))
		for _, e := range c.Examples {
			lines = append(lines, paint.Wrap("    "+e.String(), columns))
		}
	}
	return strings.Join(lines, "\n")
}

// disturbed names the cells without a verdict because the machine was busy.
func (r *Report) disturbed(p painter, columns int) string {
	var lines []string
	for _, c := range r.Disturbed() {
		lines = append(lines, paint.Wrap(fmt.Sprintf("%s %s, %s: %s", p.With(paint.Limit, noVerdict), c.Failure, c.Strategy, c.WhyBusy()), columns))
	}
	return strings.Join(lines, "\n")
}

// WhyBusy explains, in one line, why a cell has no verdict.
func (r *Result) WhyBusy() string {
	return fmt.Sprintf("no verdict: the machine was busy (a timer fired %d ms late, and more than %d ms may change what a strategy does)",
		int(1000*r.StalledSeconds), r.tolerance.Milliseconds())
}

// String returns the example on one line.
func (e Example) String() string {
	var tries []string
	for _, t := range e.Tries {
		answer := "acknowledged"
		if t.Error != "" {
			answer = t.Error
		}
		tries = append(tries, fmt.Sprintf("after %.3f s %s", t.Seconds, answer))
	}
	return fmt.Sprintf("%s (%s) was applied %d times, by %d messages: %s", e.Operation, e.Flaw, e.Applied, e.Messages, strings.Join(tries, "; "))
}

// Conditions returns lines about the deployment, the settings, and the time that the run took.
func (r *Report) Conditions() []string {
	s := r.Settings
	load, times := r.Backend.describe(s)
	return []string{
		fmt.Sprintf("%s; seed %d, %s", r.Deployment, s.Seed, load),
		times,
		fmt.Sprintf("at least, in each cell: %d acknowledged operations; %d faults of one message, %d of the cluster, %d of each "+
			"kind if mixed", s.Size.Operations, s.Size.MessageHits, s.Size.ClusterHits, s.Size.MixedHits),
		r.effort(),
	}
}

// effort returns the number of cells and the time that they took.
func (r *Report) effort() string {
	alone, repeated := 0, 0
	for i := range r.Results {
		switch c := &r.Results[i]; {
		case c.Alone:
			alone++
		case c.Repeats > 0:
			repeated++
		}
	}
	text := fmt.Sprintf("cells: %d, at most %d at a time, in %v", len(r.Results), r.Settings.Parallel, r.Took.Round(100*time.Millisecond))
	if alone > 0 {
		text += fmt.Sprintf("; %d ran again alone, with longer times, because the machine was busy", alone)
	}
	if repeated > 0 {
		text += fmt.Sprintf("; %d were run again: a server ended on its own, or too few faults struck", repeated)
	}
	return text
}

// trimLines removes the spaces at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

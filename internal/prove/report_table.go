package prove

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
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
	p := paint{colour}
	body := r.list(p)
	if width := r.columnWidth(columns); width >= narrowColumn && columns >= narrowestTable && len(r.Strategies) > 1 {
		body = r.table(p, width)
	}
	parts := []string{body, p.paragraph(append([]string{marks}, r.Backend.Legend()...), columns), r.unexpected(p, columns), p.paragraph(r.Conditions(), columns)}
	parts = append(parts, p.with(bold, wrap(r.Conclusion(), columns)))
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
func (r *Report) table(p paint, width int) string {
	t := table.New().Border(lipgloss.NormalBorder()).BorderRow(true).
		BorderLeft(false).BorderRight(false).BorderTop(false).BorderBottom(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			style := lipgloss.NewStyle().PaddingLeft(1).Width(width)
			if column == 0 {
				style = style.Width(firstColumn)
			}
			return style
		})
	if !p.on {
		t.BorderStyle(lipgloss.NewStyle())
	} else {
		t.BorderStyle(dim)
	}
	header := []string{""}
	for _, s := range r.Strategies {
		header = append(header, p.with(bold, lipgloss.Wrap(s.Title, width-1, " ")))
	}
	t.Row(header...)
	for f, failure := range r.Failures {
		row := []string{p.with(bold, failure.Title)}
		for s := range r.Strategies {
			row = append(row, p.cell(r.at(s, f)))
		}
		t.Row(row...)
	}
	return trimLines(t.String())
}

// cell returns the lines of one cell of the table.
func (p paint) cell(r *Result) string {
	lines := append(p.verdict(r), p.expectation(r)...)
	return strings.Join(append(lines, p.counts(r)...), "\n")
}

// list returns the report for narrow terminals: a line or two for each cell.
func (r *Report) list(p paint) string {
	width := 0
	for _, s := range r.Strategies {
		width = max(width, len(s.Title))
	}
	var b strings.Builder
	for f, failure := range r.Failures {
		if f > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.with(bold, failure.Title) + "\n")
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
func (p paint) paragraph(lines []string, columns int) string {
	dimmed := make([]string, len(lines))
	for i, l := range lines {
		dimmed[i] = p.with(dim, wrap(l, columns))
	}
	return strings.Join(dimmed, "\n")
}

// unexpected returns an explanation of the cells that are not as expected.
func (r *Report) unexpected(p paint, columns int) string {
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
		if c.StalledSeconds > 0 {
			why += fmt.Sprintf(" (the machine stalled for %.1f s)", c.StalledSeconds)
		}
		lines = append(lines, wrap(fmt.Sprintf("%s %s, %s: %s", p.with(odd, cross), c.Failure, c.Strategy, why), columns))
		for _, e := range c.Examples {
			lines = append(lines, wrap("    "+e.String(), columns))
		}
	}
	return strings.Join(lines, "\n")
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
	repeats := 0
	for i := range r.Results {
		repeats += r.Results[i].Repeats
	}
	text := fmt.Sprintf("cells: %d, %d at a time, in %v", len(r.Results), r.Settings.Parallel, r.Took.Round(100*time.Millisecond))
	if repeats > 0 {
		text += fmt.Sprintf("; %d were run again: the machine stalled for more than %v, a server ended on its own, or too few faults struck",
			repeats, stallLimit(r.Settings.Timing).Round(time.Millisecond))
	}
	return text
}

func wrap(text string, columns int) string { return lipgloss.Wrap(text, max(20, columns), " ") }

// trimLines removes the spaces at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

package inspect

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// levels are in the order of the report, the most serious first.
var levels = []struct {
	level Level
	style lipgloss.Style
}{{Problem, bad}, {Warning, limit}, {Note, bold}, {OK, good}}

// WriteText writes the findings, the most serious first, for a terminal with this number of columns.
func (r *Report) WriteText(w io.Writer, columns int, colour bool) error {
	p := paint{colour}
	var b strings.Builder
	b.WriteString(p.with(bold, r.Deployment) + "\n\n")
	for _, l := range levels {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Level == l.level {
				f.write(&b, p, l.style, columns)
			}
		}
	}
	b.WriteString("\n" + indented(p.with(bold, r.summary()), "", columns))
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Finding) write(b *strings.Builder, p paint, style lipgloss.Style, columns int) {
	subject := ""
	if f.Subject != "" {
		subject = f.Subject + ": "
	}
	const indent = "        "
	level := p.with(style, fmt.Sprintf("%-*s", len(indent)-1, f.Level))
	b.WriteString(level + " " + strings.TrimPrefix(indented(fmt.Sprintf("%s: %s%s", f.ID, subject, f.Fact), indent, columns), indent))
	if f.Level == OK {
		return
	}
	b.WriteString(indented(p.with(dim, "Cost: "+f.Cost), indent, columns))
	b.WriteString(indented(p.with(dim, "Mend: "+f.Mend), indent, columns))
}

func (r *Report) summary() string {
	return fmt.Sprintf("%s: %s, %s, %s, %d ok", counted(len(r.Findings), "finding"), counted(r.Counts[Problem], "problem"),
		counted(r.Counts[Warning], "warning"), counted(r.Counts[Note], "note"), r.Counts[OK])
}

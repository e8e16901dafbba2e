package inspect

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// levels are in the order of the report, the most serious first.
var levels = []struct {
	level Level
	style lipgloss.Style
}{{Problem, paint.Bad}, {Warning, paint.Limit}, {Note, paint.Bold}, {OK, paint.Good}}

// WriteText writes the findings, the most serious first, for a terminal with this number of columns.
func (r *Report) WriteText(w io.Writer, columns int, colour bool) error {
	p := paint.Paint{On: colour}
	var b strings.Builder
	b.WriteString(p.With(paint.Bold, r.Deployment) + "\n\n")
	for _, l := range levels {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Level == l.level {
				f.write(&b, p, l.style, columns)
			}
		}
	}
	b.WriteString("\n" + paint.Indented(p.With(paint.Bold, r.summary()), "", columns))
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Finding) write(b *strings.Builder, p paint.Paint, style lipgloss.Style, columns int) {
	subject := ""
	if f.Subject != "" {
		subject = f.Subject + ": "
	}
	const indent = "        "
	level := p.With(style, string(f.Level)) + strings.Repeat(" ", len(indent)-len(f.Level))
	b.WriteString(level + strings.TrimPrefix(paint.Indented(fmt.Sprintf("%s: %s%s", f.ID, subject, f.Fact), indent, columns), indent))
	if f.Level == OK {
		return
	}
	b.WriteString(paint.Indented(p.With(paint.Dim, "Cost: "+f.Cost), indent, columns))
	b.WriteString(paint.Indented(p.With(paint.Dim, "Mend: "+f.Mend), indent, columns))
}

func (r *Report) summary() string {
	return fmt.Sprintf("%s: %s, %s, %s, %d ok", counted(len(r.Findings), "finding"), counted(r.Counts[Problem], "problem"),
		counted(r.Counts[Warning], "warning"), counted(r.Counts[Note], "note"), r.Counts[OK])
}

package explorereport

import (
	"io"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// The widths of the table's columns, with the spaces before them.
const (
	numberColumn  = 5
	widestMessage = 48
	leastMessage  = 18
	countColumn   = 8
	lastCount     = 13
	otherColumns  = numberColumn + 2*countColumn + lastCount
	failureColumn = 26
)

// WriteText writes the report for a terminal with this number of columns: a table, a line for each message, and then the smallest case
// that is broken with all that happened.
func (r *Report) WriteText(w io.Writer, columns int, colour bool) error {
	p := paint.Paint{On: colour}
	text := r.Text(r.Repeat)
	if r.Only == nil && len(r.Outcomes) > 0 {
		text = r.table(p, columns) + "\n" + text
	}
	_, err := io.WriteString(w, text)
	return written(err)
}

// line is a row of the table.
type line struct {
	number, name string
	tally
}

func (r *Report) lines() (list []line) {
	for i, t := range r.perMessage() {
		list = append(list, line{strconv.Itoa(i + 1), r.First.Messages[i].Words(), t})
	}
	for _, d := range r.perDepth() {
		list = append(list, line{"", d.Words(), d.tally})
	}
	return list
}

func (r *Report) table(p paint.Paint, columns int) string {
	list := r.lines()
	width := len("message")
	for _, l := range list {
		width = max(width, lipgloss.Width(l.name))
	}
	width = min(width, widestMessage, max(leastMessage, columns-otherColumns-failureColumn))
	header := fit("", numberColumn) + fit("message", width) + right("held", countColumn) + right("broken", countColumn) + right("not reached", lastCount)
	beside := columns >= otherColumns+width+failureColumn
	if beside {
		header += "  broken by"
	}
	var b strings.Builder
	b.WriteString(p.With(paint.Bold, header) + "\n")
	for _, l := range list {
		l.write(&b, p, width)
		l.writeFailures(&b, p, beside, otherColumns+width, columns)
	}
	return b.String()
}

// write writes the row without its end.
func (l *line) write(b *strings.Builder, p paint.Paint, width int) {
	begin := right(l.number, numberColumn-2) + "  " + fit(l.name, width)
	if l.runs() == 0 {
		b.WriteString(p.With(paint.Dim, begin+right("-", countColumn)+right("-", countColumn)+right("-", lastCount)))
		return
	}
	broken := right(strconv.Itoa(l.broken), countColumn)
	if l.broken > 0 {
		broken = p.With(paint.Bad, broken)
	}
	b.WriteString(begin + right(strconv.Itoa(l.held), countColumn) + broken + right(strconv.Itoa(l.notReached), lastCount))
}

// writeFailures writes the names of the failures that broke something, beside the row or below it, and the row's end.
func (l *line) writeFailures(b *strings.Builder, p paint.Paint, beside bool, before, columns int) {
	if len(l.by) == 0 {
		b.WriteString("\n")
		return
	}
	if !beside {
		b.WriteString("\n")
		before = numberColumn
	}
	for i, names := range wrapNames(l.by, columns-before-2) {
		indent := "  "
		if !beside || i > 0 {
			indent = strings.Repeat(" ", before+2)
		}
		b.WriteString(indent + p.With(paint.Bad, names) + "\n")
	}
}

// wrapNames returns lines of names with commas between them. A name, which has hyphens, is not broken.
func wrapNames(names []string, width int) (lines []string) {
	line := ""
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		switch {
		case line == "":
			line = name
		case len(line)+1+len(name) <= width:
			line += " " + name
		default:
			lines = append(lines, line)
			line = name
		}
	}
	return append(lines, line)
}

// fit returns a text with a width: cut, or with spaces after it.
func fit(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text + strings.Repeat(" ", width-lipgloss.Width(text))
	}
	runes := []rune(text)
	for lipgloss.Width(string(runes)) > width-1 {
		runes = runes[:len(runes)-1]
	}
	return fit(string(runes)+"…", width)
}

// right returns a text with spaces before it.
func right(text string, width int) string { return strings.Repeat(" ", max(0, width-len(text))) + text }

// Package paint colours the texts of the command line, and breaks their lines for the width of a terminal.
package paint

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Paint colours a text if On is set.
type Paint struct{ On bool }

// With returns the text in a style, each line by itself and without the spaces at its end.
func (p Paint) With(style lipgloss.Style, text string) string {
	if !p.On {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = style.Render(strings.TrimRight(l, " "))
	}
	return strings.Join(lines, "\n")
}

// The styles.
var (
	Good = lipgloss.NewStyle().Foreground(lipgloss.Green)
	Bad  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	// Limit is for what is no fault, but has a limit.
	Limit = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	// Odd is for what is not as expected.
	Odd  = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true)
	Dim  = lipgloss.NewStyle().Faint(true)
	Bold = lipgloss.NewStyle().Bold(true)
)

// leastColumns is the width below which no line is broken any more.
const leastColumns = 20

// Wrap breaks the lines of a text for a number of columns.
func Wrap(text string, columns int) string {
	return lipgloss.Wrap(text, max(leastColumns, columns), " ")
}

// Indented breaks the lines of a text and puts the same indent before each. It ends with a line break.
func Indented(text, indent string, columns int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(Wrap(text, columns-len(indent)), "\n") {
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	return b.String()
}

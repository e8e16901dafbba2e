package inspect

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// paint colours a text if on is set.
type paint struct{ on bool }

func (p paint) with(style lipgloss.Style, text string) string {
	if !p.on {
		return text
	}
	return style.Render(text)
}

var (
	good  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad   = lipgloss.NewStyle().Foreground(lipgloss.Red)
	limit = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	dim   = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
)

const leastColumns = 20

// indented wraps a text and puts the same indent before each line.
func indented(text, indent string, columns int) string {
	wrapped := lipgloss.Wrap(text, max(leastColumns, columns-len(indent)), " ")
	var b strings.Builder
	for line := range strings.SplitSeq(wrapped, "\n") {
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	return b.String()
}

const gap = 2 // spaces between two columns of a table

// columnWidths returns the width of each column.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	return widths
}

func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// pad returns a row of a table.
func pad(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+gap))
	}
	return strings.TrimRight(b.String(), " ")
}

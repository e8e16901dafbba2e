package inspect

import (
	"strings"

	"charm.land/lipgloss/v2"
)

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

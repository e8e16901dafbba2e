package main

import (
	"fmt"
	"strings"
)

// The columns of the table: name, what it is, bar, command, last measured.
const (
	columnName    = 1
	columnCommand = 4
	columnLast    = 5
	columns       = 7 // with the empty ones before the first bar and after the last one
)

// A row is a line of the table that has a command.
type row struct {
	line    int // its index in the document
	cells   []string
	name    string
	command string // as the shell takes it
}

// rowsOf returns the rows of a document's tables. A line with a missing or a needless cell is an error: its figure would never be measured.
func rowsOf(lines []string) ([]row, error) {
	var rows []row
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := split(line)
		if len(cells) != columns {
			return nil, fmt.Errorf("%s:%d has %d cells, not %d; a bar within a cell is written as \\|", table, i+1, len(cells)-2, columns-2)
		}
		if !strings.Contains(cells[columnCommand], "`") {
			continue // the head
		}
		command := strings.Trim(cells[columnCommand], " `")
		rows = append(rows, row{
			line:    i,
			cells:   cells,
			name:    strings.Trim(cells[columnName], " `"),
			command: strings.ReplaceAll(command, `\|`, "|"),
		})
	}
	return rows, nil
}

// split splits a line of a table at its bars, but not at `\|`: so Markdown has a bar within a cell.
func split(line string) []string {
	var cells []string
	start := 0
	for i := range len(line) {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells = append(cells, line[start:i])
			start = i + 1
		}
	}
	return append(cells, line[start:])
}

// measuredAs returns the row's line with a value and its date in the last column.
func (r row) measuredAs(value, date string) string {
	r.cells[columnLast] = fmt.Sprintf(" %s, %s ", value, date)
	return strings.Join(r.cells, "|")
}

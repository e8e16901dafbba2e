package main

import (
	"fmt"
	"io"
)

// statusLine is a line on a terminal that says what the program does now. Elsewhere it prints nothing.
type statusLine struct {
	w        io.Writer
	terminal terminal
}

func newStatusLine(s *session) *statusLine {
	return &statusLine{s.stderr, terminalOf(s.stderr, s.getenv)}
}

// show replaces the text of the line.
func (l *statusLine) show(text string) {
	if l.terminal.is {
		fmt.Fprintf(l.w, "%s%s", clearLine, cut(text, l.terminal.columns-1))
	}
}

// end removes the line.
func (l *statusLine) end() {
	if l.terminal.is {
		fmt.Fprint(l.w, clearLine)
	}
}

// clearLine moves the cursor to the beginning of its line and removes the line's text.
const clearLine = "\r\x1b[K"

// cut returns at most n characters of a text.
func cut(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), max(n, 0))])
}

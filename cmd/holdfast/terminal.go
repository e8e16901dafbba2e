package main

import (
	"io"
	"os"
	"strconv"

	"github.com/charmbracelet/x/term"
)

// terminal describes the destination of an output.
type terminal struct {
	columns int  // unknownColumns if it is not known
	is      bool // the output is a terminal
}

const unknownColumns = 120

// terminalOf describes w. The environment variable COLUMNS takes precedence over the terminal's own width, as POSIX says.
func terminalOf(w io.Writer, getenv func(string) string) terminal {
	t := terminal{columns: unknownColumns}
	if f, ok := w.(*os.File); ok && term.IsTerminal(f.Fd()) {
		t.is = true
		if columns, _, err := term.GetSize(f.Fd()); err == nil && columns > 0 {
			t.columns = columns
		}
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		t.columns = columns
	}
	return t
}

// coloured reports whether to write colours: on a terminal with colours, unless the flag or NO_COLOR turns them off.
func (t terminal) coloured(noColor bool, getenv func(string) string) bool {
	return t.is && !noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

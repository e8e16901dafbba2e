package main

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"
)

// terminal describes the destination of an output.
type terminal struct {
	columns int  // unknownColumns if it is not known
	is      bool // the output is a terminal
}

const unknownColumns = 120

func terminalOf(w io.Writer) terminal {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return terminal{columns: unknownColumns}
	}
	columns, _, err := term.GetSize(f.Fd())
	if err != nil || columns <= 0 {
		columns = unknownColumns
	}
	return terminal{columns: columns, is: true}
}

// coloured reports whether to write colours: on a terminal with colours, unless the flag or NO_COLOR turns them off.
func (t terminal) coloured(noColor bool, getenv func(string) string) bool {
	return t.is && !noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

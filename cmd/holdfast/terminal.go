package main

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"
)

// terminal is what is known of where something is written to.
type terminal struct {
	columns int // as wide as the table needs where it is not known
	is      bool
}

const unknownColumns = 100

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

// coloured reports whether to write colours: on a terminal that has them, unless the user does not want them.
func (t terminal) coloured(noColor bool, getenv func(string) string) bool {
	return t.is && !noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

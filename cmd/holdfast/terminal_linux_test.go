package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holdfast-db/holdfast/mongotest"
)

// pseudoTerminal returns a terminal with this number of columns, and a function that closes it and returns its output.
func pseudoTerminal(t *testing.T, columns uint16) (tty *os.File, end func() string) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close() })
	fd := int(control.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(control) // an error at its end: nobody has the terminal open
		text <- b.String()
	}()
	return tty, func() string {
		_ = tty.Close()
		return <-text
	}
}

func TestOnATerminal(t *testing.T) {
	uri := mongotest.RunReplicaSetT(t, 3).URI()
	with := func(name, value string) func(string) string {
		return func(n string) string { return map[string]string{name: value}[n] }
	}
	for _, c := range []struct {
		name    string
		command string
		getenv  func(string) string
		colours bool
		columns int
	}{
		{"topology", "topology", noEnvironment, true, 60},
		{"check", "check", noEnvironment, true, 60},
		{"NO_COLOR", "topology", with("NO_COLOR", "1"), false, 60},
		{"NO_COLOR", "check", with("NO_COLOR", "1"), false, 60},
		{"--no-color", "topology --no-color", noEnvironment, false, 60},
		{"--no-color", "check --no-color", noEnvironment, false, 60},
		{"a dumb terminal", "check", with("TERM", "dumb"), false, 60},
		{"COLUMNS", "check --no-color", with("COLUMNS", "40"), false, 40},
		{"JSON", "check --json", noEnvironment, false, 1 << 20},
	} {
		tty, end := pseudoTerminal(t, 60)
		var errs bytes.Buffer
		code := run(t.Context(), append(strings.Fields(c.command), "--uri", uri), tty, &errs, c.getenv)
		out := end()
		if code != exitOK || strings.Contains(out, "\x1b[3") != c.colours {
			t.Errorf("%s %s: exit code %d, colours %t: %q %s", c.name, c.command, code, !c.colours, out, errs.String())
		}
		for line := range strings.Lines(out) {
			if n := len(strings.TrimRight(line, "\r\n")); !c.colours && n > c.columns {
				t.Errorf("%s %s: a line has %d columns: %q", c.name, c.command, n, line)
			}
		}
	}
}

// The steps of a check are one line, which is removed at the end.
func TestTheStepsOfACheckAreShownOnATerminal(t *testing.T) {
	tty, end := pseudoTerminal(t, 60)
	var out bytes.Buffer
	code := run(t.Context(), []string{"check", "--json", "--uri", mongotest.RunReplicaSetT(t, 3).URI()}, &out, tty, noEnvironment)
	if text := end(); code != exitOK || !strings.Contains(text, clearLine+"looking for the servers") || !strings.HasSuffix(text, clearLine) || strings.Contains(text, "\n") {
		t.Errorf("exit code %d, %q", code, text)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAPasswordIsOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"pencil\n": "pencil", "pencil": "pencil", "pencil\r\n": "pencil", "pen cil\n": "pen cil",
		"": "", "\n": "", "a\nb\n": "", "a\rb": "", strings.Repeat("x", mostPassword+1): "",
	} {
		got, err := passwordLine(strings.NewReader(text))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%.20q: %q, %v", text, got, err)
		}
	}
}

func TestAPasswordIsAskedForTwice(t *testing.T) {
	errRead := errors.New("no terminal")
	for _, c := range []struct {
		first, second string
		err           error
		want          string // the error; empty: none
	}{
		{"pencil", "pencil", nil, ""},
		{"pencil", "pencils", nil, "the passwords are not the same"},
		{"", "", nil, "the password is empty"},
		{"pencil", "pencil", errRead, "standard input: no terminal"},
	} {
		var shown bytes.Buffer
		answers := []string{c.first, c.second}
		got, err := askTwice(&shown, func() ([]byte, error) {
			text := answers[0]
			answers = answers[1:]
			return []byte(text), c.err
		})
		switch {
		case c.want == "" && (err != nil || got != c.first || shown.String() != "Password: \nOnce more: \n"):
			t.Errorf("%q: %q, %v, shown %q", c.first, got, err, shown.String())
		case c.want != "" && (err == nil || err.Error() != c.want || got != ""):
			t.Errorf("%q: %q, error %v, want %q", c.first, got, err, c.want)
		}
	}
}

func TestAnInterruptWhileAPasswordIsAskedForRestoresTheTerminal(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	typed, restored := make(chan struct{}), false
	defer close(typed)
	read := func() ([]byte, error) {
		interrupt()
		<-typed
		return nil, io.EOF
	}
	_, err := askPassword(&session{ctx: ctx, stderr: io.Discard}, read, func() { restored = true })
	if !errors.Is(err, errInterrupted) || !restored {
		t.Errorf("error %v, restored: %t", err, restored)
	}
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// mostPassword is how long the line of a password may be.
const mostPassword = 4 << 10

// readPassword reads a password from standard input: without an echo on a terminal, otherwise its only line.
func readPassword(s *session) (string, error) {
	fd := os.Stdin.Fd()
	if !term.IsTerminal(fd) {
		return passwordLine(os.Stdin)
	}
	before, err := term.GetState(fd)
	if err != nil {
		return "", cannotRun(fmt.Errorf("standard input: %w", err))
	}
	return askPassword(s, func() ([]byte, error) { return term.ReadPassword(fd) }, func() { _ = term.Restore(fd, before) })
}

func passwordLine(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(r), mostPassword+1))
	if err != nil {
		return "", cannotRun(fmt.Errorf("standard input: %w", err))
	}
	line := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if line == "" || len(text) > mostPassword || strings.ContainsAny(line, "\r\n") {
		return "", usageError(fmt.Errorf("standard input must have one line, the password, of at most %d bytes", mostPassword))
	}
	return line, nil
}

// askPassword asks twice for a password. An interrupt ends it, and restores the terminal, which would have no echo otherwise.
func askPassword(s *session, read func() ([]byte, error), restore func()) (string, error) {
	type answer struct {
		password string
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		password, err := askTwice(s.stderr, read)
		answers <- answer{password, err}
	}()
	select {
	case a := <-answers:
		return a.password, a.err
	case <-s.ctx.Done():
		restore()
		return "", errInterrupted
	}
}

func askTwice(w io.Writer, read func() ([]byte, error)) (string, error) {
	var typed [2]string
	for i, prompt := range []string{"Password: ", "Once more: "} {
		fmt.Fprint(w, prompt)
		text, err := read()
		fmt.Fprintln(w)
		if err != nil {
			return "", cannotRun(fmt.Errorf("standard input: %w", err))
		}
		typed[i] = string(text)
	}
	switch {
	case typed[0] == "":
		return "", usageError(errors.New("the password is empty"))
	case typed[0] != typed[1]:
		return "", usageError(errors.New("the passwords are not the same"))
	}
	return typed[0], nil
}

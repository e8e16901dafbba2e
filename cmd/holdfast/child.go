package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a program of the user, with all the processes that the program starts. Its standard input is empty.
type child struct {
	args    []string
	environ []string // what is added to this program's
	output  *tail    // gets its standard output and its standard error
}

// outputLimit is how long run waits for more output when the child has ended: processes that the child started may still write.
const outputLimit = time.Second

// run runs the child until it ends. When ctx ends before, the child and its processes are killed, and the error is that of ctx.
func (c *child) run(ctx context.Context) (*os.ProcessState, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...) //nolint:gosec // the user asked for it
	cmd.Env = append(os.Environ(), c.environ...)
	cmd.Stdout, cmd.Stderr = c.output, c.output
	cmd.WaitDelay = outputLimit
	asGroup(cmd)
	err := cmd.Run()
	if cmd.Process != nil {
		killGroup(cmd.Process.Pid) // what it left would go on without its servers
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return cmd.ProcessState, nil
	}
	return nil, err
}

// exitCodeOf returns the exit code of a process. If a signal ended the process, that is 128 plus the signal's number, as in a shell.
func exitCodeOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// tailLimit is how many bytes a tail keeps.
const tailLimit = 64 << 10

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

// Write adds to the text. If the text is too long then, Write removes the first bytes. It returns no error.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if more := len(t.text) - tailLimit; more > 0 {
		t.text, t.cut = append(t.text[:0], t.text[more:]...), true
	}
	return len(p), nil
}

// lines returns the text, without the spaces at the ends of its lines.
func (t *tail) lines() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(t.text), "\uFFFD")
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
		list = append(list, "...")
	}
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimRight(line, " \t\r\n"))
	}
	return list
}

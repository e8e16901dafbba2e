// Package serverprocess runs a test's server as a process of its own, so that its time, its heap and its goroutines are not the client's.
// The process is the test binary once more.
package serverprocess

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Process is a server that runs until its input ends.
type Process struct {
	In   io.Writer
	name string
	out  *bufio.Reader
}

// Start starts the test binary with the arguments and with role, "NAME=value", in its environment, by which it knows that it is a server.
// The name is for errors. The process ends with the test, or with this process.
func Start(t *testing.T, name, role string, arguments ...string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], arguments...) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	return &Process{In: in, name: name, out: bufio.NewReader(out)}
}

// Line returns the next line that the server prints.
func (p *Process) Line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s printed %q: %v", p.name, line, err)
	}
	return strings.TrimSpace(line)
}

// Package holdfastprocess builds the program holdfast, and runs its commands as processes of their own.
package holdfastprocess

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// Program is the path of the program.
type Program string

// Build builds the program. Root is the folder of the module that has it.
func Build(t *testing.T, root string) Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "holdfast")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", root, "-o", path, "./cmd/holdfast").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Program(path)
}

// Process is a command that runs until a signal ends it, at the latest with its test. It is safe for concurrent use.
type Process struct {
	*testing.T
	cmd  *exec.Cmd
	read chan struct{} // closed when its output has ended

	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed when there is another line
}

// Start starts a command of the program.
func (p Program) Start(t *testing.T, args ...string) *Process {
	t.Helper()
	s := &Process{T: t, cmd: exec.Command(string(p), args...), read: make(chan struct{}), changed: make(chan struct{})} //nolint:noctx,gosec // a signal ends the program that the test built
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.read)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			s.add(scan.Text())
		}
	}()
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.End(syscall.SIGTERM)
		}
	})
	return s
}

func (p *Process) add(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Process) soFar() ([]string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines, p.changed
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Await waits until the process has printed a line that matches, and returns that match with its groups.
func (p *Process) Await(line *regexp.Regexp) []string {
	p.Helper()
	for {
		lines, changed := p.soFar()
		for _, l := range lines {
			if found := line.FindStringSubmatch(l); found != nil {
				return found
			}
		}
		select {
		case <-changed:
		case <-p.read:
			if now, _ := p.soFar(); len(now) > len(lines) {
				continue
			}
			p.Fatalf("%v ended without the line %v: %q", p.cmd.Args, line, lines)
		}
	}
}

// End sends a signal, waits until the process has ended, and returns its exit code and all lines that it printed.
func (p *Process) End(with os.Signal) (code int, lines []string) {
	p.Helper()
	if err := p.cmd.Process.Signal(with); err != nil {
		p.Errorf("%v: %v", p.cmd.Args, err)
	}
	<-p.read
	_ = p.cmd.Wait() // the code says it
	all, _ := p.soFar()
	return p.cmd.ProcessState.ExitCode(), slices.Clone(all)
}

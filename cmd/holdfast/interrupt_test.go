package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// programLimit is how long a test waits for a program.
const programLimit = time.Minute

// program is a program that runs.
type program struct {
	cmd              *exec.Cmd
	out, errors, all output
	ended            chan struct{}
	err              error
}

func (p *program) start() error {
	p.cmd.Stdout, p.cmd.Stderr, p.ended = io.MultiWriter(&p.out, &p.all), io.MultiWriter(&p.errors, &p.all), make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

// until waits until holds is true of its output.
func (p *program) until(holds func(string) bool) error {
	limit := time.After(programLimit)
	for {
		text, more := p.all.read()
		if holds(text) {
			return nil
		}
		select {
		case <-more:
		case <-p.ended:
			return fmt.Errorf("the program ended: %w", p.err)
		case <-limit:
			return errors.New("the output does not come")
		}
	}
}

func (p *program) wait() error {
	select {
	case <-p.ended:
		return p.err
	case <-time.After(programLimit):
		return errors.New("the program does not end")
	}
}

func (p *program) stop() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// The first interrupt makes prove drop its database. A server that does not answer to that holds the program, until a second interrupt.
func TestASecondInterruptEndsTheProgramAtOnce(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	working, cleaning := make(chan struct{}, 1), make(chan struct{}, 1)
	note := func(c chan struct{}) mongotest.Fault {
		return mongotest.Fault{Before: func() {
			select {
			case c <- struct{}{}:
			default:
			}
		}}
	}
	silent := note(cleaning)
	silent.LoseRequest, silent.Silent = true, true
	rs.Use("update", mongotest.Always(note(working)))
	rs.Use("dropDatabase", mongotest.Always(silent))
	p := &program{cmd: asHoldfast(t, "prove", "--failure", "reply-lost", "--uri", rs.URI())}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	p.interruptAfter(t, working)
	p.interruptAfter(t, cleaning)
	tick := time.NewTicker(sameInterrupt) // a signal that comes sooner is taken for the first one
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			_ = p.cmd.Process.Signal(os.Interrupt)
		case <-p.ended:
			running = false
		case <-time.After(programLimit):
			t.Fatalf("the program hangs: %s", p.all.String())
		}
	}
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		t.Fatalf("%v", p.err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, want by the signal: %s", exit, p.all.String())
	}
}

// interruptAfter waits for a step, and interrupts the program.
func (p *program) interruptAfter(t *testing.T, step <-chan struct{}) {
	t.Helper()
	select {
	case <-step:
	case <-p.ended:
		t.Fatalf("the program ended: %v %s", p.err, p.all.String())
	case <-time.After(programLimit):
		t.Fatalf("the program hangs: %s", p.all.String())
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// timeout(1) sends its signal twice: to its child, and to the child's process group. Both are one interrupt, after which prove drops its database.
func TestTwoSignalsAtOnceAreOneInterrupt(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	working := make(chan struct{}, 1)
	cleaning := make(chan struct{})
	rs.Use("update", mongotest.Always(mongotest.Fault{Before: func() {
		select {
		case working <- struct{}{}:
		default:
		}
	}}))
	rs.Use("dropDatabase", mongotest.FaultOnce(mongotest.Fault{Before: func() { <-cleaning }}))
	p := &program{cmd: asHoldfast(t, "prove", "--failure", "reply-lost", "--strategy", "no-retry", "--uri", rs.URI())}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	p.interruptAfter(t, working)
	err := p.cmd.Process.Signal(os.Interrupt)
	close(cleaning)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v, want the exit code %d: %s", err, exitInterrupted, p.all.String())
	}
}

// asHoldfast returns this program as holdfast with a command line.
func asHoldfast(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"holdfast"}, args...), Env: append(os.Environ(), asProgram+"=1")}
}

// silentServer accepts connections and answers nothing. It calls accepted at the first one.
func silentServer(t *testing.T, accepted func()) (uri string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			accepted()
		}
	}()
	return "mongodb://" + l.Addr().String() + "/"
}

func TestAnInterruptEndsTheWaitForAServer(t *testing.T) {
	for _, args := range [][]string{{"topology"}, {"topology", "--follow"}, {"check"}, {"sweep", "--ns", "a.b"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		code, out, errs := holdfast(ctx, append(args, "--timeout", "1h", "--uri", silentServer(t, interrupt))...)
		if code != exitInterrupted || out != "" {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}

func TestASilentServerIsAnErrorAfterTheTimeout(t *testing.T) {
	for _, args := range [][]string{{"topology"}, {"check"}, {"sweep", "--ns", "a.b"}} {
		code, out, errs := holdfast(t.Context(), append(args, "--timeout", "100ms", "--uri", silentServer(t, func() {}))...)
		if code != exitCannotRun || out != "" {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}

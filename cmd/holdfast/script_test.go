package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestScripts runs the program as a user does: the files testdata/script/*.txtar, in the language of testscript with the commands below.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"deploy": deployInScript, "exits": exitsInScript, "interrupt": interruptInScript, "freeport": freePortInScript, "listening": listeningInScript,
		},
		RequireExplicitExec: true, RequireUniqueNames: true,
	})
}

// deploy VARIABLE set|sharded|standalone starts servers and puts their URI into a variable.
func deployInScript(ts *testscript.TestScript, _ bool, args []string) {
	var d *mongotest.Deployment
	var err error
	switch args[1] {
	case "set":
		d, err = mongotest.RunReplicaSet(3)
	case "sharded":
		d, err = mongotest.RunSharded(3, 2)
	case "standalone":
		d, err = mongotest.RunStandalone()
	default:
		err = fmt.Errorf("there is no deployment %q", args[1])
	}
	ts.Check(err)
	ts.Defer(func() { _ = d.Close() })
	ts.Setenv(args[0], d.URI())
}

// exits CODE PROGRAM ARGS... runs a program, which must end with this code.
func exitsInScript(ts *testscript.TestScript, _ bool, args []string) {
	checkExit(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func checkExit(ts *testscript.TestScript, err error, want string) {
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// interrupt PATTERN CODE PROGRAM ARGS... runs a program and interrupts it when its output matches. It writes the output to the files out and err.
func interruptInScript(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile("(?m)" + args[0])
	p := &program{cmd: exec.Command(args[2], args[3:]...)}
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), os.Environ()
	for _, name := range []string{"PATH", "HOLDFAST_URI"} {
		p.cmd.Env = append(p.cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(p.start())
	defer p.stop()
	if err := p.until(pattern.MatchString); err != nil {
		ts.Fatalf("%v; it printed %s", err, p.all.String())
	}
	ts.Check(p.cmd.Process.Signal(os.Interrupt))
	err := p.wait()
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(p.out.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("err"), []byte(p.errors.String()), 0o600))
	checkExit(ts, err, args[1])
}

// freeport VARIABLE puts the number of a free port into a variable.
func freePortInScript(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(errors.Join(err, l.Close()))
	ts.Setenv(args[0], port)
}

// listening PORT waits until somebody listens on a port.
func listeningInScript(ts *testscript.TestScript, _ bool, args []string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(programLimit); time.Now().Before(limit); <-tick.C {
		if c, err := net.Dial("tcp", "127.0.0.1:"+args[0]); err == nil {
			_ = c.Close()
			return
		}
	}
	ts.Fatalf("nobody listens on port %s", args[0])
}

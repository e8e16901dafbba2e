package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestEachCommandHasExamplesAtTheEndOfItsHelp(t *testing.T) {
	parser, err := kong.New(new(cli), kong.Vars{"strategies": "", "failures": "", "port": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		list := examplesOf[command.Name]
		if len(list) == 0 {
			t.Errorf("%s has no examples", command.Name)
			continue
		}
		code, out, _ := holdfast(t.Context(), command.Name, "--help")
		if code != exitOK || !strings.HasSuffix(out, "  "+list[len(list)-1].line+"\n") {
			t.Errorf("%s: exit code %d; the help does not end with the examples:\n%s", command.Name, code, out)
		}
	}
}

// endless are the beginnings of the examples that run until an interrupt, with the text after which the test interrupts them.
var endless = map[string]string{
	"holdfast router":                   "Waiting for clients",
	"holdfast mock":                     "Waiting for connections",
	"holdfast mock --backend couchbase": `couchbase://`,
	"holdfast topology --uri mongodb://127.0.0.1:27017/ --follow": "Where a read goes",
}

// runExample waits until an example ends. One that is endless is interrupted.
func runExample(t *testing.T, line string, p *program) {
	t.Helper()
	longest := ""
	for beginning := range endless {
		if strings.HasPrefix(line, beginning) && len(beginning) > len(longest) {
			longest = beginning
		}
	}
	if longest != "" {
		if err := p.until(func(text string) bool { return strings.Contains(text, endless[longest]) }); err != nil {
			t.Fatalf("%v: %s", err, p.all.String())
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	err := p.wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitUnexpected && strings.HasPrefix(line, "holdfast check") {
		return // the connection string names one member of three
	}
	if err != nil {
		t.Errorf("%v: %s", err, p.all.String())
	}
}

// Each example runs in a shell, with the address of a set of the test in place of the usual one, and a program of the
// tests in place of ./shop and ./audit.
func TestTheExamplesOfTheHelpRun(t *testing.T) {
	for _, list := range examplesOf {
		for _, e := range list {
			t.Run(e.line, func(t *testing.T) {
				if e.line == "holdfast prove" {
					t.Skip("it takes most of a minute; TestProvePrintsAndChecks runs some cells of it")
				}
				p := &program{cmd: exampleCommand(t, e.line)}
				if err := p.start(); err != nil {
					t.Fatal(err)
				}
				defer p.stop()
				runExample(t, e.line, p)
			})
		}
	}
}

// exampleCommand returns the shell that runs an example. A single command takes the place of the shell, so that it gets the interrupt.
func exampleCommand(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config/fish/completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer(
		"127.0.0.1:27017", mongotest.RunReplicaSetT(t, 3).Addr(), "./audit", "'counter check'", "./shop", "counter right",
	).Replace(line)
	name := "bash"
	switch {
	case strings.Contains(line, "completion zsh"):
		name, script = "zsh", "autoload -U compinit; compinit -u; "+script
	case strings.HasPrefix(line, "holdfast"):
		script = "exec " + script
	}
	cmd := exec.Command(shellPath(t, name), "-c", script)
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	return cmd
}

// Command holdfast shows which retry strategies lose operations of a replicated database, which apply them twice, and which are
// right (prove); finds the failure that breaks a program (explore); shows and checks a MongoDB deployment (topology, check); finishes
// pending updates (sweep); routes the clients of any driver to a replica set (router); and runs servers for tests (mock).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// The exit codes.
const (
	exitOK          = 0
	exitUnexpected  = 1 // a check found something, or a sweep left something
	exitUsage       = 2
	exitCannotRun   = 3
	exitBusy        = 4   // prove --check: cells have no verdict, because the machine was busy
	exitNoFolder    = 100 // mongod's code for a --dbpath that does not exist
	exitInterrupted = 130
)

func main() {
	ctx := interruptible()
	if isMongod(os.Args[0]) {
		os.Exit(runMongod(&session{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}, os.Args[1:]))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// sameInterrupt is how long after the first signal others are taken for the same interrupt: timeout(1), for example, sends the signal to
// its child and then to its process group, and so twice to the child.
const sameInterrupt = 300 * time.Millisecond

// interruptible returns a context that ends at the first SIGINT, SIGTERM or SIGHUP. A second signal, after sameInterrupt, ends the program
// immediately, because it is not caught any more. Under nohup SIGHUP is ignored. A script's shell has the programs ignore SIGINT that it starts in the
// background; one that comes is meant, also the second time.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	ignored := signal.Ignored(os.Interrupt)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		cancel()
		<-time.After(sameInterrupt)
		if ignored {
			exitAtNext(signals)
		}
		signal.Stop(signals)
	}()
	return ctx
}

// exitAtNext exits at the next signal, as a shell reports it: after signal.Stop it would be ignored again.
func exitAtNext(signals <-chan os.Signal) {
	select {
	case <-signals: // the same interrupt
	default:
	}
	number, _ := (<-signals).(syscall.Signal)
	os.Exit(128 + int(number))
}

// cli is the command line.
type cli struct {
	Prove      proveCommand      `cmd:"" help:"Run the counting experiment: every retry strategy with every failure."`
	Explore    exploreCommand    `cmd:"" help:"Run a program again and again, each time with one failure at one message to its database, and report what breaks it."`
	Topology   topologyCommand   `cmd:"" help:"Show the members of a MongoDB deployment, and which of them reads go to."`
	Check      checkCommand      `cmd:"" help:"Check whether a MongoDB deployment and a connection string are set up so that operations survive."`
	Sweep      sweepCommand      `cmd:"" help:"Finish the updates of mongo/once that programs have left pending."`
	Explain    explainCommand    `cmd:"" help:"Print the rules of retries, the verdict for one operation and error, or the attempts of an error's text in words."`
	Router     routerCommand     `cmd:"" help:"Run a router in front of a MongoDB replica set: clients in any language see a mongos, and no failover."`
	Mock       mockServers       `cmd:"" help:"Run a MongoDB replica set, sharded cluster or standalone server, or a Couchbase cluster, for tests, in memory, for clients in any language."`
	Completion completionCommand `cmd:"" help:"Print the completion script of a shell: bash, zsh or fish."`
	Version    versionCommand    `cmd:"" help:"Print the version; holdfast --version does the same."`
}

// session has the context and the streams of a command.
type session struct {
	ctx            context.Context //nolint:containedctx // kong passes one value to the commands
	stdout, stderr io.Writer
	getenv         func(string) string
	args           []string // the command line
	given          []*kong.Flag
	ineffective    []string // flags that were given and have no effect
}

// failure is an error with its exit code.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usageError(err error) error { return &failure{exitUsage, err} }
func cannotRun(err error) error  { return &failure{exitCannotRun, err} }

var errInterrupted = &failure{exitInterrupted, errors.New("interrupted")}

// exited is the value with which kong's exit panics, so that the help ends the parsing.
type exited int

// run runs the program under its own name.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var c cli
	s := &session{ctx: ctx, stdout: stdout, stderr: stderr, getenv: getenv}
	opts := []kong.Option{
		kong.Name("holdfast"), kong.Description(description), kong.ExplicitGroups([]kong.Group{mongodbGroup, couchbaseGroup}),
		kong.Vars{
			"strategies": namesByBackend((*prove.Backend).StrategyNames),
			"failures":   namesByBackend((*prove.Backend).FailureNames),
			"port":       "0",
		},
	}
	if len(args) == 1 && args[0] == "--version" { // not a flag of kong, because mock has mongod's --version
		args = []string{"version"}
	}
	if isRouterHash(args) {
		return runRouterHash(s, args[2:])
	}
	if len(args) > 0 && args[0] == completeName {
		return runComplete(s, &c, opts, args[1:])
	}
	return parseAndRun(s, args, &c, nil, opts...)
}

func newParser(s *session, target any, opts []kong.Option) (*kong.Kong, error) {
	return kong.New(target, append(opts, kong.Writers(s.stdout, s.stderr), lists(), kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Exit(func(code int) { panic(exited(code)) }))...)
}

// namesByBackend lists the names that each backend of the experiment has.
func namesByBackend(namesOf func(*prove.Backend) []string) string {
	var lists []string
	for _, b := range prove.Backends() {
		lists = append(lists, b.Title+": "+strings.Join(namesOf(b), ", "))
	}
	return strings.Join(lists, "; ")
}

// parseAndRun parses a command line into target. It runs command or, if that is nil, the command that the command
// line names.
func parseAndRun(s *session, args []string, target any, command func() error, opts ...kong.Option) (code int) {
	defer func() {
		if e, ok := recover().(exited); ok {
			code = int(e)
		}
	}()
	parser, err := newParser(s, target, opts)
	if err != nil {
		return exitCode(err, s.stderr)
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = checkGiven(parsed)
	}
	if unwritten := (*failure)(nil); errors.As(err, &unwritten) { // of the help
		return exitCode(err, s.stderr)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "holdfast: %s\nTry: %s --help\n", withoutSecrets(usageText(err)), helpName(parser.Model.Name, err))
		return exitUsage
	}
	s.args, s.given = args, flagsGiven(parsed.Path)
	s.ineffective = ineffectiveGiven(parsed.Path)
	if command != nil {
		return exitCode(command(), s.stderr)
	}
	return exitCode(parsed.Run(s), s.stderr)
}

// helpName returns the command whose help explains an error of the command line.
func helpName(program string, err error) string {
	var command *kong.Node
	var wrong *kong.ParseError
	var flag *flagError
	switch {
	case errors.As(err, &flag):
		command = flag.parsed.Selected()
	case errors.As(err, &wrong):
		command = wrong.Context.Selected()
	}
	if command == nil {
		return program
	}
	return program + " " + command.Name
}

// missingValue is kong's text for a flag at the end of the command line that has no value.
var missingValue = regexp.MustCompile(`expected \S+ value but got "EOL" \(<EOL>\)`)

// usageText returns the text of an error of the command line.
func usageText(err error) string {
	return missingValue.ReplaceAllString(err.Error(), "the value is missing")
}

// exitCode prints an error, without passwords, and returns its exit code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	code := exitCannotRun
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	fmt.Fprintln(stderr, "holdfast:", withoutSecrets(err.Error()))
	return code
}

const description = `Clients of MongoDB and Couchbase, servers for tests, and an experiment that shows whether a retry strategy is right.

"holdfast prove" needs no server: it starts its own three-member replica sets, or with --backend couchbase its own
Couchbase clusters of three nodes. With --uri it uses your MongoDB server, through a proxy that injects the faults. It uses only the
database "holdfast_prove" there.

"holdfast explore" runs a program of yours with its own servers for tests, of MongoDB or Couchbase.

"holdfast topology" and "holdfast check" look at your MongoDB deployment, and change nothing. "holdfast sweep" finishes the updates of
mongo/once there.

"holdfast router" runs in front of your MongoDB replica set until it is interrupted: clients connect to it as to a mongos.

"holdfast mock" runs a server for tests until it is interrupted. Nothing is stored. It accepts mongod's own flags. Under
the name "mongod" (for example by a symbolic link) the program is "holdfast mock", for tools that start a mongod. With --backend couchbase it
runs a Couchbase cluster.

Exit codes: 0 success; 1 a check, an experiment or a sweep found something that is not as it should be; 2 the command line is wrong; 3 the command
could not run, for example because no server answers; 4 "prove --check" has no verdict about some cells, because the machine was busy;
130 interrupted.`

// Command holdfast has two commands. `holdfast prove` shows which retry strategies lose operations of a replicated
// database, which apply them twice, and which are right. `holdfast mock` runs a replica set or a Couchbase cluster for tests.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/prove"
)

// The exit codes.
const (
	exitOK          = 0
	exitUnexpected  = 1 // --check found a cell that is not as expected
	exitUsage       = 2
	exitCannotRun   = 3
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

// interruptible returns a context that ends at the first SIGINT, SIGTERM or SIGHUP. A second signal ends the program
// immediately, because it is not caught any more. Under nohup SIGHUP is ignored.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}

// cli is the command line.
type cli struct {
	Prove   proveCommand   `cmd:"" help:"Run the counting experiment: every retry strategy with every failure."`
	Sweep   sweepCommand   `cmd:"" help:"Finish the updates of mongo/once that programs have left pending."`
	Explain explainCommand `cmd:"" help:"Print the rules of retries, the verdict for one operation and error, or the attempts of an error's text in words."`
	Mock    mockServers    `cmd:"" help:"Run a MongoDB replica set, sharded cluster or standalone server, or a Couchbase cluster, for tests, in memory, for clients in any language."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// session has the context and the streams of a command.
type session struct {
	ctx            context.Context //nolint:containedctx // kong passes one value to the commands
	stdout, stderr io.Writer
	getenv         func(string) string
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

// exited is the value with which kong's exit panics, so that the help ends the parsing.
type exited int

// run runs the program under its own name.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var c cli
	s := &session{ctx: ctx, stdout: stdout, stderr: stderr, getenv: getenv}
	return parseAndRun(s, args, &c, nil, kong.Name("holdfast"), kong.Description(description), kong.ExplicitGroups([]kong.Group{couchbaseGroup}),
		kong.Vars{
			"strategies": namesByBackend((*prove.Backend).StrategyNames),
			"failures":   namesByBackend((*prove.Backend).FailureNames),
			"port":       "0",
		})
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
	parser, err := kong.New(target, append(opts, kong.Writers(s.stdout, s.stderr), lists(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Exit(func(code int) { panic(exited(code)) }))...)
	if err != nil {
		fmt.Fprintln(s.stderr, "holdfast:", err)
		return exitCannotRun
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = checkEmpty(parsed.Path)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "holdfast: %v\nTry: %s --help\n", err, parser.Model.Name)
		return exitUsage
	}
	s.given = flagsGiven(parsed.Path)
	s.ineffective = ineffectiveGiven(parsed.Path)
	if command != nil {
		return exitCode(command(), s.stderr)
	}
	return exitCode(parsed.Run(s), s.stderr)
}

// exitCode prints an error and returns its exit code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	code := exitCannotRun
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	fmt.Fprintln(stderr, "holdfast:", err)
	return code
}

const description = `Clients of MongoDB and Couchbase, servers for tests, and an experiment that shows whether a retry strategy is right.

"holdfast prove" needs no server: it starts its own three-member replica sets, or with --backend couchbase its own
Couchbase clusters of three nodes. With --uri it uses your MongoDB server, through a proxy that injects the faults. It uses only the
database "holdfast_prove" there.

"holdfast mock" runs a server for tests until it is interrupted. Nothing is stored. It accepts mongod's own flags. Under
the name "mongod" (for example by a symbolic link) the program is "holdfast mock", for tools that start a mongod. With --backend couchbase it
runs a Couchbase cluster.`

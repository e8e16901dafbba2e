// Command holdfast shows which way of retrying loses operations of a replicated database, which applies them twice, and
// which is right: `holdfast prove`. `holdfast mock` runs a replica set to test against.
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
	exitNoFolder    = 100 // mongod's, where --dbpath is no folder that is there
	exitInterrupted = 130
)

func main() {
	ctx := interruptible()
	if isMongod(os.Args[0]) {
		os.Exit(runMongod(&session{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}, os.Args[1:]))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// interruptible returns a context that ends at the first signal to end. A second signal ends the program at once: by the time
// that the context has ended, nothing catches it. SIGHUP, of a terminal that closes, is one too, but not under nohup.
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
	Prove   proveCommand   `cmd:"" help:"Run the counting experiment: every strategy of retrying against every failure."`
	Mock    mockCommand    `cmd:"" help:"Run a MongoDB replica set, sharded cluster or standalone server for tests, in memory, for clients in any language."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// session is what a command works with.
type session struct {
	ctx            context.Context //nolint:containedctx // kong calls the commands with one value of ours
	stdout, stderr io.Writer
	getenv         func(string) string
	ineffective    []string // flags that were given and change nothing
}

// failure is an error with the exit code that it means.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usageError(err error) error { return &failure{exitUsage, err} }
func cannotRun(err error) error  { return &failure{exitCannotRun, err} }

// exited is what kong's help panics with, so that printing it ends the parsing.
type exited int

// run is the program by its own name.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var c cli
	s := &session{ctx: ctx, stdout: stdout, stderr: stderr, getenv: getenv}
	return parseAndRun(s, args, &c, nil, kong.Name("holdfast"), kong.Description(description),
		kong.Vars{
			"strategies": strings.Join(prove.StrategyNames(), ", "),
			"failures":   strings.Join(prove.FailureNames(), ", "),
			"port":       "0",
		})
}

// parseAndRun parses a command line into a target and runs what it asks for: the command that it names, or where there are no
// commands, command.
func parseAndRun(s *session, args []string, target any, command func() error, opts ...kong.Option) (code int) {
	defer func() {
		if e, ok := recover().(exited); ok {
			code = int(e)
		}
	}()
	parser, err := kong.New(target, append(opts, kong.Writers(s.stdout, s.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Exit(func(code int) { panic(exited(code)) }))...)
	if err != nil {
		fmt.Fprintln(s.stderr, "holdfast:", err)
		return exitCannotRun
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(s.stderr, "holdfast: %v\nTry: %s --help\n", err, parser.Model.Name)
		return exitUsage
	}
	s.ineffective = ineffectiveGiven(parsed.Path)
	if command != nil {
		return exitCode(command(), s.stderr)
	}
	return exitCode(parsed.Run(s), s.stderr)
}

// exitCode tells of an error and returns the code that it means.
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

const description = `A MongoDB client, servers for tests, and the experiment that shows whether retrying is right.

"holdfast prove" needs nothing: it brings its own three-member replica sets. With --uri it uses a server of yours, through
a proxy that injects the faults, and there touches only the database "holdfast_prove".

"holdfast mock" runs a server to test against until it is interrupted. Nothing is stored. It takes mongod's own flags; under
the name "mongod" (a symbolic link will do) the program is "holdfast mock", for tools that start a mongod.`

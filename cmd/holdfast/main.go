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
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// cli is the command line.
type cli struct {
	Prove   proveCommand   `cmd:"" help:"Run the counting experiment: every strategy of retrying against every failure."`
	Mock    mockCommand    `cmd:"" help:"Run a MongoDB replica set or standalone server for tests, in memory, for clients in any language."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// session is what a command works with.
type session struct {
	ctx            context.Context //nolint:containedctx // kong calls the commands with one value of ours
	stdout, stderr io.Writer
	getenv         func(string) string
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

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	defer func() {
		if e, ok := recover().(exited); ok {
			code = int(e)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("holdfast"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.Vars{
			"strategies": strings.Join(prove.StrategyNames(), ", "),
			"failures":   strings.Join(prove.FailureNames(), ", "),
		},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Exit(func(code int) { panic(exited(code)) }))
	if err != nil {
		fmt.Fprintln(stderr, "holdfast:", err)
		return exitCannotRun
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "holdfast: %v\nTry: holdfast --help\n", err)
		return exitUsage
	}
	return exitCode(command.Run(&session{ctx, stdout, stderr, getenv}), stderr)
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

"holdfast mock" runs a server to test against until it is interrupted. Nothing is stored.`

// Command flaky looks for tests that pass only by luck. It compiles every test binary of the module once, and runs each test
// many times beside busy loops, with 1, 2 and 8 processors in turn.
//
//	go run ./internal/devtools/flaky [-n N] [-slow N] [-busy N] [-p N] [-for DURATION] [-state FOLDER] [PACKAGE ...]
//
// It goes on where an earlier run ended: the folder keeps the result of each test, which counts until a change of the code gives
// another test binary. Two clones need a folder each, because the binaries name the files of theirs. The last lines are the tests that
// failed and, if every test of every package was run, "figure flaky-tests N". It exits with 1 if a test failed, and with 2 if
// it ended before all tests were run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type options struct {
	runs, slowRuns int           // of each test, and of one that takes more than a second
	busy           int           // busy loops
	workers        int           // tests at the same time
	limit          time.Duration // of the whole run; 0: none
	state          string        // the folder of the states
	packages       []string
}

func main() {
	var o options
	flag.IntVar(&o.runs, "n", 100, "how many times a test runs")
	flag.IntVar(&o.slowRuns, "slow", 20, "how many times a test runs that takes more than a second")
	flag.IntVar(&o.busy, "busy", 4, "how many busy loops run beside the tests")
	flag.IntVar(&o.workers, "p", 2, "how many tests run at the same time")
	flag.DurationVar(&o.limit, "for", 0, "end after this time, and go on in the next run; 0 means no limit")
	flag.StringVar(&o.state, "state", filepath.Join(os.TempDir(), "holdfast-flaky"), "the folder that keeps what was run")
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "flaky:", err)
		code = 1
	}
	os.Exit(code)
}

func (o *options) check() error {
	switch {
	case o.runs < 1 || o.slowRuns < 1:
		return fmt.Errorf("-n is %d and -slow is %d; both must be at least 1", o.runs, o.slowRuns)
	case o.busy < 0 || o.workers < 1:
		return fmt.Errorf("-busy is %d and -p is %d; -busy must not be negative, -p must be at least 1", o.busy, o.workers)
	case o.limit < 0:
		return errors.New("-for must not be negative")
	}
	return nil
}

func run(ctx context.Context, o options) (code int, err error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.limit)
		defer cancel()
	}
	j, err := openJournal(o.state)
	if err != nil {
		return 0, err
	}
	defer j.close()
	tests, err := allTests(ctx, j.folder, o.packages)
	if err != nil {
		return 0, err
	}
	if err := runAll(ctx, o, tests, j); err != nil {
		return 0, err
	}
	return report(tests, j, len(o.packages) == 0), nil
}

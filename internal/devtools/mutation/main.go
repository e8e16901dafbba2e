// Command mutation tests the tests: it changes one line at a time, runs the tests that could notice, and prints each change
// that no test noticed.
//
//	go run ./internal/devtools/mutation [-seed N] [-n N] [-v] [PACKAGE ...]
//	go run ./internal/devtools/mutation -defects FOLDER
//
// It changes lines of the packages, for example ./internal/couchbase/...; without any, of the engine and of the MongoDB
// client's core. The tests that could notice are the package's own, and then those of the packages that import it.
//
// The last line is "figure mutants-survived-percent X". It exits with 1 if X is above the bar, or if the table of
// equivalent mutants (equivalent.txt) does not hold. The working tree is never changed: the go command sees each mutant
// through an overlay.
//
// With -defects it writes an overlay in which each deliberate defect of package defect can be switched on, for negative controls.
//
// Begin with operators.go, drops.go (the kinds of changes). Then module.go (whose tests may notice), mutant.go (the random choice
// of lines), lab.go (the tests that must notice), equivalent.txt; defects.go (the overlay of the deliberate defects), overlay.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

// bar is how many of a hundred mutants may survive.
const bar = 5.0

// targets are the packages that are mutated unless others are named.
var targets = []string{
	"./retry", "./internal/mongo/topology", "./internal/mongo/auth", "./internal/mongo/cluster", "./internal/mongo/operation",
}

func main() {
	seed := flag.Uint64("seed", 1, "which mutants are drawn")
	n := flag.Int("n", 60, "how many are drawn")
	workers := flag.Int("p", runtime.GOMAXPROCS(0), "how many are tested at the same time")
	verbose := flag.Bool("v", false, "print each mutant and the package whose tests noticed it")
	defects := flag.String("defects", "", "write the overlay with the defects of package defect into this `folder`, print its name, and end")
	flag.Parse()
	if *defects != "" {
		if err := writeDefects(*defects); err != nil {
			fmt.Fprintln(os.Stderr, "mutation:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, options{seed: *seed, n: *n, workers: *workers, verbose: *verbose, packages: flag.Args()})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

type options struct {
	seed       uint64
	n, workers int
	verbose    bool
	packages   []string // as the go command is given them; none: targets
}

func run(ctx context.Context, o options) error {
	if o.n < 1 || o.workers < 1 {
		return fmt.Errorf("-n is %d and -p is %d; both must be at least 1", o.n, o.workers)
	}
	if len(o.packages) == 0 {
		o.packages = targets
	}
	sources, err := loadSources(o.packages)
	if err != nil {
		return err
	}
	equivalent, err := readEquivalent("internal/devtools/mutation/" + equivalentFile)
	if err != nil {
		return err
	}
	if err := equivalent.check(sources); err != nil {
		return err
	}
	drawn := draw(equivalent.without(sitesOf(sources)), o)
	lab, err := newLab()
	if err != nil {
		return err
	}
	defer lab.close()
	start := time.Now()
	results := lab.test(ctx, drawn, o)
	if err := ctx.Err(); err != nil {
		return err
	}
	return report(results, o, time.Since(start))
}

// tell prints what came of one mutant, as soon as it is known.
func (r result) tell(o options) {
	switch {
	case r.err != nil:
	case r.noticedBy == "":
		fmt.Printf("survived: %s\n", r.mutant)
	case o.verbose:
		fmt.Printf("noticed by %s: %s\n", r.noticedBy, r.mutant)
	}
}

// report prints the figure.
func report(results []result, o options, took time.Duration) error {
	survived := 0
	for _, r := range results {
		if r.err != nil {
			return r.err
		}
		if r.noticedBy == "" {
			survived++
		}
	}
	if len(results) < o.n {
		return fmt.Errorf("there are only %d mutants, %d were asked for", len(results), o.n)
	}
	fmt.Printf("seed %d: %d of %d mutants survived, in %.0f s\n", o.seed, survived, len(results), took.Seconds())
	percent := 100 * float64(survived) / float64(len(results))
	fmt.Printf("figure mutants-survived-percent %s\n", strings.TrimSuffix(fmt.Sprintf("%.1f", percent), ".0"))
	if percent > bar {
		return fmt.Errorf("%.1f percent of the mutants survived; the bar is %.0f", percent, bar)
	}
	return nil
}

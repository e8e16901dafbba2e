package main

import (
	"cmp"
	"fmt"
	"slices"
)

// report prints the tests that cost most, those that failed and, for the whole module, the figure. It returns the exit code.
func report(tests []runnable, j *journal, whole bool) int {
	var done []result
	for _, t := range tests {
		if r, ok := j.result(t.test); ok {
			done = append(done, r)
		}
	}
	slices.SortFunc(done, func(a, b result) int { return cmp.Compare(b.CPU, a.CPU) })
	for _, r := range done[:min(20, len(done))] {
		fmt.Printf("%8.3f CPU s  %s %s\n", r.CPU, r.Package, r.Test)
	}
	failed := 0
	for _, r := range done {
		if r.Failed > 0 {
			failed++
			fmt.Printf("failed: %s %s\n", r.Package, r.Test)
		}
	}
	fmt.Printf("%d of %d tests were run, %d failed\n", len(done), len(tests), failed)
	switch {
	case failed > 0:
		return 1
	case len(done) < len(tests):
		fmt.Println("run the command again to go on")
		return 2
	case whole:
		fmt.Printf("figure flaky-tests %d\n", failed)
	}
	return 0
}

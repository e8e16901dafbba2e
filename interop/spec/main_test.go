package spec

import (
	"fmt"
	"os"
	"testing"
)

var (
	counted map[outcome]int // nil if not all suites were run
	runs    int             // of cases that pass, on all their versions
)

func TestMain(m *testing.M) {
	code := m.Run()
	if counted != nil {
		fmt.Printf("not run, by the files' own word: %d; those that pass were run %d times on their versions\n", counted[skipped], runs)
		fmt.Printf("figure spec-official-passed %d\nfigure spec-official-listed %d\n", counted[passes], counted[fails])
	}
	os.Exit(code)
}

func count(results []result) {
	counted = make(map[outcome]int)
	for _, r := range results {
		counted[r.outcome()]++
		if r.outcome() == passes {
			runs += r.runs
		}
	}
}

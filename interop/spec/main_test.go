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
		fmt.Printf("figure spec-%s-passed %d\n", clientName, counted[passes])
		if missingFile != "" {
			fmt.Printf("figure spec-%s-not-there-yet %d\n", clientName, counted[notThereYet])
		}
		fmt.Printf("figure spec-%s-listed %d\n", clientName, counted[fails])
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

package simcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Violation is a rule that was broken.
type Violation struct {
	Rule, Text string
}

func (v Violation) String() string { return v.Rule + ": " + v.Text }

// Violations collects those of one rule.
type Violations struct {
	Rule string
	List []Violation
}

// Add adds a violation of the rule.
func (v *Violations) Add(format string, args ...any) {
	v.List = append(v.List, Violation{v.Rule, fmt.Sprintf(format, args...)})
}

// Join adds violations that were found already.
func (v *Violations) Join(list []Violation) { v.List = append(v.List, list...) }

// Outcome is what the application knows about a write.
type Outcome uint8

// The outcomes.
const (
	NotApplied Outcome = iota
	Applied
	Unknown
)

func (o Outcome) String() string { return [...]string{"not applied", "applied", "unknown"}[o] }

// T is the part of a test that Report needs.
type T interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
}

// Report fails the test if there are violations. It prints the first ten, writes the history to a file in the folder, and prints the
// command that runs the seed again.
func Report(t T, found []Violation, folder string, seed uint64, text, again string) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	path := filepath.Join(folder, fmt.Sprintf("simulation-%d-%d.txt", seed, time.Now().UnixNano()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
	for _, v := range found[:min(len(found), 10)] {
		t.Errorf("%.2000s", v.String())
	}
	t.Errorf("%d violations; the history is in %s. To run this seed again many times:\n%s", len(found), path, again)
}

package provematrix

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

func TestADefectExplainsOnlyWhatItCauses(t *testing.T) {
	tried := func(flaw prove.Flaw, text string) prove.Example {
		return prove.Example{Flaw: flaw, Tries: []prove.ExampleTry{{Error: text}}}
	}
	const handshake = "connection() error occurred during connection handshake: EOF"
	over := prove.Expectation{Must: prove.OverCounts}
	missing := tried(prove.FlawMissing, handshake)
	for _, c := range []struct {
		name      string
		cell      prove.Result
		explained bool
	}{
		{"missing by the defect", prove.Result{Verdict: prove.UnderCounts, Examples: []prove.Example{missing}}, true},
		{"missing by something else", prove.Result{Verdict: prove.UnderCounts, Examples: []prove.Example{tried(prove.FlawMissing, "EOF")}}, false},
		{"one of two by something else", prove.Result{
			Verdict: prove.UnderCounts, Examples: []prove.Example{missing, tried(prove.FlawMissing, "EOF")},
		}, false},
		{"missing, without an example", prove.Result{Verdict: prove.UnderCounts}, false},
		{"misreported by the defect", prove.Result{
			Verdict: prove.Misreports, Examples: []prove.Example{tried(prove.FlawMisreported, handshake)},
		}, true},
		{"misreported by something else", prove.Result{
			Verdict: prove.Misreports, Examples: []prove.Example{tried(prove.FlawMisreported, "EOF")},
		}, false},
		{"beside what is expected", prove.Result{
			Verdict: prove.UnderCounts | prove.OverCounts, Expected: over,
			Examples: []prove.Example{tried(prove.FlawExtra, "EOF"), missing},
		}, true},
		{"in place of what is expected", prove.Result{
			Verdict: prove.UnderCounts, Expected: over, Examples: []prove.Example{missing},
		}, false},
		{"extra is never explained", prove.Result{Verdict: prove.OverCounts, Examples: []prove.Example{tried(prove.FlawExtra, handshake)}}, false},
		{"wasted time is never explained", prove.Result{Verdict: prove.WastesTime, Examples: []prove.Example{tried(prove.FlawWasteful, handshake)}}, false},
		{"nor is too little load", prove.Result{
			Verdict: prove.UnderCounts, NotShown: "x", Examples: []prove.Example{missing},
		}, false},
	} {
		if got := defectOf(&c.cell) != ""; got != c.explained {
			t.Errorf("%s: explained %v, want %v", c.name, got, c.explained)
		}
	}
}

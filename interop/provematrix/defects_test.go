package provematrix

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/prove"
)

func TestADefectExplainsOnlyWhatItCauses(t *testing.T) {
	tried := func(applied int, text string) prove.Example {
		return prove.Example{Applied: applied, Tries: []prove.ExampleTry{{Error: text}}}
	}
	const handshake = "connection() error occurred during connection handshake: EOF"
	over := prove.Expectation{Must: prove.OverCounts}
	for _, c := range []struct {
		name      string
		cell      prove.Result
		explained bool
	}{
		{"missing by the defect", prove.Result{Verdict: prove.UnderCounts, Examples: []prove.Example{tried(0, handshake)}}, true},
		{"missing by something else", prove.Result{Verdict: prove.UnderCounts, Examples: []prove.Example{tried(0, "EOF")}}, false},
		{"one of two by something else", prove.Result{
			Verdict: prove.UnderCounts, Examples: []prove.Example{tried(0, handshake), tried(0, "EOF")},
		}, false},
		{"missing, without an example", prove.Result{Verdict: prove.UnderCounts}, false},
		{"beside what is expected", prove.Result{
			Verdict: prove.UnderCounts | prove.OverCounts, Expected: over,
			Examples: []prove.Example{tried(2, "EOF"), tried(0, handshake)},
		}, true},
		{"in place of what is expected", prove.Result{
			Verdict: prove.UnderCounts, Expected: over, Examples: []prove.Example{tried(0, handshake)},
		}, false},
		{"extra is never explained", prove.Result{Verdict: prove.OverCounts, Examples: []prove.Example{tried(2, handshake)}}, false},
		{"nor is too little load", prove.Result{
			Verdict: prove.UnderCounts, NotShown: "x", Examples: []prove.Example{tried(0, handshake)},
		}, false},
	} {
		if got := defectOf(&c.cell) != ""; got != c.explained {
			t.Errorf("%s: explained %v, want %v", c.name, got, c.explained)
		}
	}
}

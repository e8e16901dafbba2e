package prove

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		strategy, failure, w string
		must                 Verdict
		may                  Verdict
	}{
		{NoRetry, "request-lost", Majority, UnderCounts, Right},
		{NoRetry, "outage", Majority, Right, Right},
		{FiveBlind, "outage", Majority, WastesTime, Right},
		{FiveBlind, "command-error", Majority, WastesTime, Right},
		{OneRetry, "reply-lost", Majority, OverCounts, Right},
		{TwoStep, Mixed, Majority, Right, Right},
		{Once, Mixed, Majority, Right, Right},
		{RetryableWrites, Mixed, Majority, Right, Right},
		{BestEffort, Mixed, Majority, UnderCounts, Right},
		{TwoStep, "delayed-request", Majority, OverCounts, Right},
		{Once, "delayed-request", Majority, Right, Right},
		{OneRetry, "delayed-request", Majority, OverCounts, Right},
		{NoRetry, "delayed-request", Majority, Right, Right},
		{FiveBlind, Mixed, Majority, OverCounts | WastesTime, Right},
		{RetryableWrites, "primary-killed", One, UnderCounts, Right},
		{OneRetry, "partition", One, UnderCounts, OverCounts},
		{OneRetry, "step-down", One, Right, OverCounts},
		{OneRetry, "reply-lost", One, OverCounts, Right},
		{FiveBlind, Mixed, One, UnderCounts | WastesTime, OverCounts},
	} {
		s, _ := MongoDB.StrategiesNamed([]string{c.strategy})
		f, _ := MongoDB.FailuresNamed([]string{c.failure})
		if got := MongoDB.expect(s[0], f[0], c.w); got != (Expectation{c.must, c.may}) {
			t.Errorf("%s, %s, w %s: %v", c.strategy, c.failure, c.w, got)
		}
	}
}

func TestExpectationIsMet(t *testing.T) {
	e := Expectation{Must: UnderCounts, May: OverCounts}
	for v, want := range map[Verdict]bool{
		Right: false, UnderCounts: true, UnderCounts | OverCounts: true, OverCounts: false, UnderCounts | WastesTime: false,
	} {
		if e.met(v) != want {
			t.Errorf("%s: %t", v, !want)
		}
	}
}

// Failures with write concern 1 are not in the matrix unless they are asked for, and are no part of the conclusion.
func TestRollbacksAreSeparate(t *testing.T) {
	all, _ := MongoDB.FailuresNamed(nil)
	named, _ := MongoDB.StrategiesNamed([]string{RetryableWrites})
	retryable := named[0]
	for _, f := range MongoDB.Rollbacks() {
		if slices.ContainsFunc(all, func(one Failure) bool { return one.Name == f.Name }) {
			t.Errorf("%s is in the matrix", f.Name)
		}
		named, err := MongoDB.FailuresNamed([]string{f.Name})
		if err != nil || len(named) != 1 || named[0].W != One {
			t.Errorf("%s: %v, %v", f.Name, named, err)
		}
		if e := MongoDB.expect(retryable, f, One); e.Must != UnderCounts {
			t.Errorf("%s: retryable writes are expected to be %s", f.Name, e)
		}
	}
	r := &Report{Backend: MongoDB, Strategies: []Strategy{retryable}, Failures: append(MongoDB.Failures()[:1], MongoDB.Rollbacks()[0])}
	r.Results = []Result{{}, {Verdict: UnderCounts, Expected: Expectation{Must: UnderCounts}}}
	if got := r.Conclusion(); got != "Right: retryable writes; 2 of 2 cells as expected." {
		t.Errorf("%s", got)
	}
}

func TestUnknownNamesListTheKnownOnes(t *testing.T) {
	_, err := MongoDB.FailuresNamed([]string{"outage", "earthquake"})
	if err == nil || !strings.Contains(err.Error(), `"earthquake"`) || !strings.Contains(err.Error(), "request-lost, reply-lost") {
		t.Errorf("%v", err)
	}
}

// sample is a report with cells of all kinds.
func sample() *Report {
	r := &Report{Explored: sampleExplored(), Backend: MongoDB, Settings: MongoDB.DefaultSettings(), Deployment: "nothing", Strategies: MongoDB.Strategies()[:2], Failures: MongoDB.Failures()[:3]}
	cell := func(s, f int) Result {
		c := cell{backend: MongoDB, strategy: r.Strategies[s], failure: r.Failures[f], settings: r.Settings}
		return c.blank()
	}
	shown := cell(0, 0)
	shown.Verdict, shown.Counts.Missing, shown.Counts.Operations = UnderCounts, 3, 10
	unexpected := cell(1, 0)
	unexpected.Verdict, unexpected.Examples = UnderCounts, []Example{{Operation: "w0_0", Tries: []ExampleTry{{Error: "broken"}}}}
	notShown := cell(0, 1)
	notShown.NotShown = "3 of 20 operations acknowledged"
	failed := cell(1, 1)
	failed.Error = "audit: numbers differ"
	absent := cell(0, 2)
	absent.Unavailable = "n/a, standalone"
	interrupted := cell(1, 2)
	interrupted.Interrupted = true
	r.Results = []Result{shown, unexpected, notShown, failed, absent, interrupted}
	return r
}

func TestEveryCellIsShownOnWideAndNarrowTerminals(t *testing.T) {
	for _, columns := range []int{40, 80, 100, 200} {
		var b bytes.Buffer
		if err := sample().WriteText(&b, columns, false); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{
			"✓ under-counts", "✗ under-counts", "not shown", "3 of 20 operations acknowledged", "numbers differ", "interrupted",
			"n/a", "counts, expected right w0_0", "broken", "blind wrong in 3 of 4 cases: extra at the first step with reply-lost, silence",
		} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%d columns: %q is not shown:\n%s", columns, want, text)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Errorf("%d columns: there are colours", columns)
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns && columns >= 60 {
				t.Errorf("%d columns: a line has %d: %q", columns, n, line)
			}
		}
	}
}

func TestColoursFollowTheOption(t *testing.T) {
	var plain, coloured bytes.Buffer
	_ = sample().WriteText(&plain, 120, false)
	_ = sample().WriteText(&coloured, 120, true)
	if !strings.Contains(coloured.String(), "\x1b[") || strings.Contains(plain.String(), "\x1b[") {
		t.Error("the report has colours without the option, or none with it")
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Cells      []map[string]any `json:"cells"`
		Unexpected []string         `json:"unexpected"`
		AsExpected bool             `json:"as_expected"`
		Settings   map[string]any   `json:"settings"`
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Cells) != 6 || len(d.Unexpected) != 4 || d.AsExpected || d.Settings["seed"] != 1.0 || d.Cells[0]["verdict"] != "under-counts" {
		t.Errorf("%s", b.String())
	}
}

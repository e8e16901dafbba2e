package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

func TestTheExitCodeOfCheck(t *testing.T) {
	right, busy, wrong := prove.Result{}, prove.Result{Busy: true}, prove.Result{Verdict: prove.OverCounts}
	absent := prove.Result{Unavailable: "n/a"}
	for _, c := range []struct {
		name  string
		cells []prove.Result
		want  int
	}{
		{"all as expected", []prove.Result{right, right}, exitOK},
		{"one without a verdict", []prove.Result{right, busy}, exitBusy},
		{"all without a verdict", []prove.Result{busy}, exitBusy},
		{"one wrong, one without a verdict", []prove.Result{wrong, busy}, exitUnexpected},
		{"none available", []prove.Result{absent}, exitUnexpected},
	} {
		report := &prove.Report{Results: c.cells}
		code := exitOK
		if f := (*failure)(nil); errors.As((&proveCommand{Check: true}).verdict(report), &f) {
			code = f.code
		}
		if code != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, code, c.want)
		}
		if err := (&proveCommand{}).verdict(report); err != nil {
			t.Errorf("%s, without --check: %v", c.name, err)
		}
	}
}

// explored runs one cell of retryable writes, and the exploration if there is one.
func explored(t *testing.T, c *proveCommand) *prove.Report {
	t.Helper()
	c.Backend, c.W, c.Seed, c.Writers, c.Strategy = mongodbBackend, prove.Majority, 1, 4, []string{prove.RetryableWrites}
	c.Duration = prove.MongoDB.DefaultSettings().LoadLimit
	s := &session{ctx: t.Context(), stderr: io.Discard, getenv: noEnvironment}
	m, err := c.matrix(s)
	if err != nil {
		t.Fatal(err)
	}
	if m.Failures, err = prove.MongoDB.FailuresNamed([]string{"command-error"}); err != nil {
		t.Fatal(err)
	}
	report, err := c.experiment(s, m)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestTheStrategiesAreExplored(t *testing.T) {
	report := explored(t, &proveCommand{})
	if report.Explored == nil || report.Interrupted {
		t.Fatalf("%+v", report)
	}
	s := &report.Explored.Strategies[0]
	if got := s.Sentence(); s.Strategy != prove.RetryableWrites || !strings.HasPrefix(got, "right in all 29 cases") {
		t.Errorf("%s: %s", s.Strategy, got)
	}
}

func TestNothingIsExploredWithFailuresOrWithoutWish(t *testing.T) {
	for _, c := range []*proveCommand{{NoExplore: true}, {Failure: []string{"command-error"}}} {
		if report := explored(t, c); report.Explored != nil || report.Interrupted {
			t.Errorf("%+v: %+v", c, report.Explored)
		}
	}
}

package explore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
	search "github.com/holdfast-db/holdfast/internal/explore"
)

func TestOptionsThatCannotBe(t *testing.T) {
	noApply := explore.Failure{Name: "nothing"}
	for _, test := range []struct {
		name, want string
		opts       []explore.Option
	}{
		{"a nil option", "option 0 is nil", []explore.Option{nil}},
		{"no node", "Nodes: 0 is less than 1", []explore.Option{explore.Nodes(0)}},
		{"no failure", "Failures: there is none", []explore.Option{explore.Failures()}},
		{"a failure that does nothing", "number 1 (nothing) has no function Apply", []explore.Option{explore.Failures(noApply)}},
		{"the same failure twice", `two have the name "silence"`, []explore.Option{explore.Failures(explore.Silence, explore.Silence)}},
		{"no depth", "Depth: 0 is less than 1", []explore.Option{explore.Depth(0)}},
		{"no sample", "Samples: 0 is less than 1", []explore.Option{explore.Samples(0)}},
		{"a negative number of runs", "Parallel: -1 is negative", []explore.Option{explore.Parallel(-1)}},
		{"a negative budget", "Budget: -1s is negative", []explore.Option{explore.Budget(-time.Second)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := explore.Refusal(t, mended, test.opts...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
	if err := explore.Refusal(t, nil); err == nil {
		t.Error("a nil function is explored")
	}
}

func TestOnlyTheChosenMessagesMeetFailures(t *testing.T) {
	reads := explore.Messages(func(m explore.Message) bool { return m.Command == "get" })
	report, text := explore.Report(t, "", mended, explore.InMemory(), explore.Depth(2), explore.Samples(10), reads)
	if len(report.Outcomes) < 20 {
		t.Error(text)
	}
	for _, o := range report.Outcomes {
		for _, s := range o.Case {
			if s.Message.Command != "get" {
				t.Errorf("the case %s was run", o.Case)
			}
		}
	}
}

func TestAnotherSeedDrawsOtherCases(t *testing.T) {
	cases := func(seed int64) (names []string) {
		few := explore.Failures(explore.ReplyLost, explore.RequestLost, explore.Refused(0x86), explore.Refused(0x85))
		report, _ := explore.Report(t, "", mended, explore.InMemory(), explore.Depth(2), explore.Samples(5), explore.Seed(seed), few)
		for _, o := range report.Outcomes {
			names = append(names, o.Case.String())
		}
		return names
	}
	first, again, other := strings.Join(cases(1), "\n"), strings.Join(cases(1), "\n"), strings.Join(cases(2), "\n")
	if first != again || first == other {
		t.Errorf("the seed 1 drew\n%s\nthen\n%s\nand the seed 2\n%s", first, again, other)
	}
}

func TestARunThatOutlivesItsBudgetHangs(t *testing.T) {
	report, text := explore.Report(t, "", func(e *explore.Exploration) { <-e.Context().Done() }, explore.InMemory(), explore.Budget(time.Minute))
	if report.First.Verdict != search.Hung {
		t.Error(text)
	}
	contains(t, text, "longer than its budget of 1m0s")
}

func TestGoroutinesMayBeLeft(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		go func() { <-end }()
		incrementBlindly(e)
	}, explore.AllowLeaks(), explore.Failures(explore.Refused(0x24)), explore.Nodes(1))
	if report.Failing() {
		t.Error(text)
	}
}

// own is a failure of the user's own.
func own(apply func(*explore.Strike) couchbasetest.Middleware) []explore.Option {
	return []explore.Option{explore.InMemory(), explore.Failures(explore.Failure{Name: "own", Title: "it fails in its own way", Apply: apply})}
}

func TestAFailureThatDoesNothingIsNotReached(t *testing.T) {
	report, text := explore.Report(t, "", incrementBlindly, own(func(*explore.Strike) couchbasetest.Middleware { return nil })...)
	if report.Count(search.NotReached) != 1 {
		t.Error(text)
	}
}

func TestAFailureThatPanicsIsTold(t *testing.T) {
	report, text := explore.Report(t, "", incrementBlindly, own(func(*explore.Strike) couchbasetest.Middleware { panic("oh") })...)
	if !report.Failing() {
		t.Error("the exploration passes")
	}
	contains(t, text, "the failure own panicked: oh", "options_test.go")
}

package retry

import (
	"context"
	"slices"
	"testing"
	"time"
)

// A strategy that looks only at the number of retries is a rule, so that a retry copies neither request nor failure.
func TestWhichStrategiesAreARule(t *testing.T) {
	other := StrategyFunc(func(context.Context, OperationState, Failure) (Action, error) { return After(0), nil })
	always := BestEffort(BackoffOptions{
		Calculator: func(retries int) time.Duration { return time.Duration(retries) * time.Second },
	})
	for _, c := range []struct {
		name     string
		strategy Strategy
		ok       bool
		attempts int
		delay    time.Duration // after three retries
	}{
		{"once", RetryOnce(), true, 2, 0},
		{"a limit", Limited(7, UntilDeadline()), true, 7, 0},
		{"a limit around a lower one", Limited(7, Limited(3, UntilDeadline())), true, 3, 0},
		{"a limit around a higher one", Limited(3, Limited(7, UntilDeadline())), true, 3, 0},
		{"until the deadline", UntilDeadline(), true, unlimited, 0},
		{"best effort", always, true, unlimited, 3 * time.Second},
		{"a limit around best effort", Limited(7, always), true, 7, 3 * time.Second},
		{"another strategy", other, false, 0, 0},
		{"a limit around another strategy", Limited(7, other), false, 0, 0},
		{"overload", Overload(2, RetryOnce()), false, 0, 0},
	} {
		r, ok := c.strategy.(*rule)
		if ok != c.ok || ok && (r.attempts != c.attempts || r.delayAfter(3) != c.delay) {
			t.Errorf("%s: %v attempts, %v; want %v, %d, %v", c.name, r.attempts, ok, c.ok, c.attempts, c.delay)
		}
	}
	two := rule{attempts: 2}
	if !two.allows(0) || two.allows(1) || (&rule{attempts: unlimited}).allows(1_000_000) == false {
		t.Error("a rule of two attempts allows another number")
	}
}

func TestWhatAValueIsCalled(t *testing.T) {
	call := func(n int, text func(i int) string) []string {
		var out []string
		for i := range n {
			out = append(out, text(i))
		}
		return out
	}
	for _, c := range []struct{ got, want []string }{
		{
			call(4, func(i int) string { return BreakerState(i).String() }),
			[]string{"closed", "open", "half-open", "unknown state"},
		},
		{
			call(4, func(i int) string { return EventKind(i).String() }),
			[]string{"attempt failed", "decided", "ended", "unknown kind"},
		},
		{
			call(4, func(i int) string { return Stage(i).String() }),
			[]string{"in flight", "before sending", "answered", "unknown stage"},
		},
		{
			call(4, func(i int) string { return Idempotency(i).String() }),
			[]string{"not idempotent", "idempotent", "read only", "unknown idempotency"},
		},
		{
			call(len(stopReasonTexts)+1, func(i int) string { return StopReason(i).String() }),
			[]string{
				"undecided", "retried", "not retryable", "not idempotent", "strategy declined", "attempts used up",
				"deadline would pass", "budget empty", "breaker open", "no server", "unsupported server", "in transaction",
				"disabled", "cancelled", "command not built", "retry-after too long", "not replayable", "unknown",
			},
		},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A stop reason that belongs to the context or the engine may not come from a strategy or an attempt.
func TestWhichReasonsMayBeGivenForARefusal(t *testing.T) {
	not := []StopReason{StopNone, NotStopped, StopCancelled, StopDeadlineWouldPass}
	for w := range StopReason(len(stopReasonTexts) + 2) {
		want := int(w) < len(stopReasonTexts) && !slices.Contains(not, w)
		if w.refuses() != want {
			t.Errorf("%v: %v", w, !want)
		}
	}
}

package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// "Always -> controlled backoff 1, 10, 50, 100, 500, 1000, 1000 ... ms", whatever the strategy says.
func TestAnAlwaysRetryReasonIsRetriedWithTheControlledBackoff(t *testing.T) {
	for _, reason := range []retry.Reason{
		couchbasereason.KVNotMyVBucket, couchbasereason.KVCollectionOutdated, couchbasereason.ViewsNoActivePartition, retry.NewReason("MINE", retry.FlagAlways),
	} {
		t.Run(reason.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := with(notMyVBucket, func(f *retry.Failure) { f.Reason = reason })
				r := do(t.Context(), engine(t, retry.Options{Strategy: saying(retry.Decline(retry.StopDisabled), nil)}), retry.Operation{}, failure, 8)
				r.check(t, []time.Duration{0, 1 * ms, 11 * ms, 61 * ms, 161 * ms, 661 * ms, 1661 * ms, 2661 * ms, 3661 * ms}, 3661*ms, retry.NotStopped)
			})
		})
	}
}

// "Only the deadline and cancellation" end an operation whose failures are all for an always-retry reason. The strategy declines
// every time.
func TestOnlyTheDeadlineAndCancellationEndAnAlwaysRetryReason(t *testing.T) {
	first := func(n int) []time.Duration { return []time.Duration{0, 1 * ms, 11 * ms, 61 * ms, 161 * ms}[:n] }
	for _, c := range []struct {
		name     string
		mode     retry.DeadlineMode
		deadline time.Duration
		cancel   time.Duration
		at       []time.Duration
		ended    time.Duration
		stop     retry.StopReason
	}{
		{"neither", retry.DeadlineGiveUp, 0, 0, first(5), 161 * ms, retry.NotStopped},
		{"the last delay ends just before the deadline", retry.DeadlineGiveUp, 161*ms + 1, 0, first(5), 161 * ms, retry.NotStopped},
		{"the last delay ends with the deadline", retry.DeadlineGiveUp, 161 * ms, 0, first(4), 61 * ms, retry.StopDeadlineWouldPass},
		{"the last delay would pass the deadline", retry.DeadlineGiveUp, 100 * ms, 0, first(4), 61 * ms, retry.StopDeadlineWouldPass},
		{"the last delay ends just before the deadline, capped", retry.DeadlineCapDelay, 161*ms + 1, 0, first(5), 161 * ms, retry.NotStopped},
		{"the last delay ends with the deadline, capped", retry.DeadlineCapDelay, 161 * ms, 0, first(4), 161 * ms, retry.StopDeadlineWouldPass},
		{"the last delay is capped at the deadline", retry.DeadlineCapDelay, 100 * ms, 0, first(4), 100 * ms, retry.StopDeadlineWouldPass},
		{"cancelled during a delay", retry.DeadlineGiveUp, 0, 30 * ms, first(3), 30 * ms, retry.StopCancelled},
		{"cancelled during a capped delay", retry.DeadlineCapDelay, 100 * ms, 80 * ms, first(4), 80 * ms, retry.StopCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := endingAt(t.Context(), c.deadline, c.cancel)
				defer cancel()
				e := engine(t, retry.Options{Strategy: saying(retry.Decline(retry.StopDisabled), nil), DeadlineMode: c.mode})
				do(ctx, e, retry.Operation{}, notMyVBucket, 4).check(t, c.at, c.ended, c.stop)
			})
		})
	}
}

// endingAt returns a context that has a deadline and is cancelled after the given times. Zero means never.
func endingAt(ctx context.Context, deadline, cancelled time.Duration) (context.Context, context.CancelFunc) {
	stop := context.CancelFunc(func() {})
	if deadline != 0 {
		ctx, stop = context.WithTimeout(ctx, deadline)
	}
	ctx, cancel := context.WithCancel(ctx)
	if cancelled != 0 {
		time.AfterFunc(cancelled, cancel)
	}
	return ctx, func() { cancel(); stop() }
}

// "Budget and breaker never refuse an always-retry reason." The budget refuses another reason first.
func TestAnEmptyBudgetDoesNotStopAnAlwaysRetryReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, retry.Options{Strategy: retry.UntilDeadline(), Budget: bucket(t, retry.BudgetOptions{Burst: 1})})
		do(t.Context(), e, retry.Operation{}, inFlight, 2).check(t, []time.Duration{0, 0}, 0, retry.StopBudgetEmpty)
		do(t.Context(), e, retry.Operation{}, inFlight, 2).check(t, []time.Duration{0}, 0, retry.StopBudgetEmpty)
		do(t.Context(), e, retry.Operation{}, notMyVBucket, 2).check(t, []time.Duration{0, 1 * ms, 11 * ms}, 11*ms, retry.NotStopped)
	})
}

// firstDecision is an observer that keeps the first decision.
type firstDecision []retry.Record

func (d *firstDecision) Observe(_ context.Context, e retry.Event) {
	if e.Kind == retry.EventDecided && len(*d) == 0 {
		*d = append(*d, e.Record)
	}
}

// The breaker opens at the failure itself, and stays open for longer than the delay.
func TestAnOpenBreakerDoesNotRefuseAnAlwaysRetryReason(t *testing.T) {
	open := retry.DefaultBreakerOptions()
	open.Volume = 1
	for _, c := range []struct {
		name    string
		failure retry.Failure
		stop    retry.StopReason
		delay   time.Duration
	}{
		{"another reason is refused", inFlight, retry.StopBreakerOpen, 0},
		{"an always-retry reason is not", notMyVBucket, retry.NotStopped, 1 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var first firstDecision
				e := engine(t, retry.Options{Strategy: retry.UntilDeadline(), Breaker: open, Observer: &first})
				do(t.Context(), e, retry.Operation{}, c.failure, 1)
				if len(first) != 1 || first[0].StopReason != c.stop || first[0].Delay != c.delay {
					t.Errorf("%+v, want %v after %v", first, c.stop, c.delay)
				}
			})
		})
	}
}

func TestControlledBackoff(t *testing.T) {
	want := []time.Duration{1, 10, 50, 100, 500, 1000, 1000, 1000}
	for retries, n := range want {
		if got := retry.ControlledBackoff(retries); got != n*ms {
			t.Errorf("after %d retries: %v, want %v", retries, got, n*ms)
		}
	}
	if got := retry.ControlledBackoff(-1); got != ms {
		t.Errorf("after -1 retries: %v, want %v", got, ms)
	}
}

// "Budget and breaker never refuse an always-retry reason; only the deadline and cancellation do."
func TestAnOpenBreakerDoesNotEndAnAlwaysRetryReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := retry.DefaultBreakerOptions()
		opens.Volume, opens.OpenTimeout = 1, 30*ms
		e := engine(t, retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{}), Breaker: opens})
		if r := do(t.Context(), e, retry.Operation{}, notMyVBucket, 1); r.err != nil {
			t.Errorf("%v", r.err)
		}
	})
}

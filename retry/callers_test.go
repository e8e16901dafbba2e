package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func made(t rapid.TB, o Options) *Engine {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// failing returns an attempt that always fails with err and may be retried.
func failing(err error) AttemptFunc {
	return func(context.Context, int) Failure {
		return Failure{Err: err, Stage: StageBeforeSending, Reason: ReasonConnectionFailed}
	}
}

func stopReasonOfError(t rapid.TB, err error) StopReason {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	return e.StopReason()
}

func after(d time.Duration) Strategy {
	return StrategyFunc(func(context.Context, OperationState, Failure) (Action, error) { return After(d), nil })
}

// bucket is a budget that is never refilled.
func bucket(burst float64) *Budget { return newBudget(BudgetOptions{Burst: burst}, time.Now()) }

func TestManyCallersShareTheBudgetAndEachHasItsOwnError(t *testing.T) {
	const callers, burst = 2000, 50
	for _, c := range []struct {
		name     string
		strategy Strategy
	}{
		{"at once", RetryOnce()},
		{"after a random delay", Limited(2, BestEffort(BackoffOptions{}))},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := made(t, Options{Strategy: c.strategy, Budget: bucket(burst)})
				own, got := make([]error, callers), make([]error, callers)
				attempts := make([]int, callers)
				begin := make(chan struct{})
				var all sync.WaitGroup
				for i := range callers {
					own[i] = fmt.Errorf("caller %d's own", i)
					all.Go(func() {
						<-begin
						got[i] = e.Do(t.Context(), Operation{}, func(ctx context.Context, n int) Failure {
							attempts[i]++
							return failing(own[i])(ctx, n)
						})
					})
				}
				synctest.Wait()
				close(begin)
				all.Wait()
				checkEach(t, own, got, attempts, burst)
			})
		})
	}
}

// checkEach checks that every caller has its own error, and that as many as the budget allows made a retry.
func checkEach(t *testing.T, own, got []error, attempts []int, burst int) {
	retries := 0
	for i, err := range got {
		want := StopBudgetEmpty
		if attempts[i] == 2 {
			retries++
			want = StopAttemptsUsed
		} else if attempts[i] != 1 {
			t.Errorf("caller %d made %d attempts", i, attempts[i])
		}
		var e *Error
		if !errors.As(err, &e) || e.StopReason() != want || len(e.Attempts) != attempts[i] {
			t.Errorf("caller %d made %d attempts and has the error: %v", i, attempts[i], err)
			continue
		}
		for _, a := range e.Attempts {
			if !errors.Is(a.Err, own[i]) {
				t.Errorf("caller %d has another caller's failure: %v", i, a.Err)
			}
		}
		if neighbour := own[(i+1)%len(own)]; !errors.Is(err, own[i]) || errors.Is(err, neighbour) {
			t.Errorf("caller %d has the error: %v", i, err)
		}
	}
	if retries != burst {
		t.Errorf("%d callers made a retry, want %d", retries, burst)
	}
}

// caller is one operation of a random run.
type caller struct {
	begin, delay time.Duration
	fails        int           // the number of its attempts that fail
	always       bool          // they fail for a reason that is always retried
	cancelled    time.Duration // after it began; 0: never
}

func callers() *rapid.Generator[[]caller] {
	duration := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond
	})
	return runs(rapid.Custom(func(t *rapid.T) caller {
		return caller{
			begin: duration.Draw(t, "begin"), delay: duration.Draw(t, "delay"), cancelled: duration.Draw(t, "cancelled"),
			fails: rapid.IntRange(0, 4).Draw(t, "fails"), always: rapid.IntRange(0, 9).Draw(t, "always") == 0,
		}
	}), 30)
}

func (c caller) run(ctx context.Context, e *Engine) {
	if c.begin > 0 {
		<-time.After(c.begin)
	}
	if c.cancelled > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer time.AfterFunc(c.cancelled, cancel).Stop()
		defer cancel()
	}
	_ = e.Do(ctx, Operation{Strategy: after(c.delay)}, func(ctx context.Context, n int) Failure {
		switch {
		case n >= c.fails:
			return Failure{}
		case c.always:
			return Failure{Err: errBroken, Stage: StageBeforeSending, Reason: alwaysRetried}
		default:
			return failing(errBroken)(ctx, n)
		}
	})
}

// ledger is an observer that records the tokens and successes of a budget.
type ledger struct {
	start time.Time
	mu    sync.Mutex
	run   []moment
	all   []EventKind
}

func (l *ledger) Observe(_ context.Context, e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := moment{at: time.Since(l.start)}
	counts := !e.Reason.AlwaysRetry()
	switch {
	case e.Kind == EventDecided && e.StopReason == NotStopped && counts:
		m.paid = 1
	case e.Kind == EventEnded && e.Err == nil:
		m.successes = 1
	case e.Kind == EventEnded && e.StopReason == StopCancelled && e.Delay > 0 && counts:
		m.paid = -1
	}
	l.run = append(l.run, m)
	l.all = append(l.all, e.Kind)
}

// byTime returns the run with one moment for all events of the same time, because their order is not known.
func (l *ledger) byTime() []moment {
	slices.SortStableFunc(l.run, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	var merged []moment
	for _, m := range l.run {
		if last := len(merged) - 1; last >= 0 && merged[last].at == m.at {
			merged[last].paid += m.paid
			merged[last].successes += m.successes
			continue
		}
		merged = append(merged, m)
	}
	return merged
}

func TestTheBudgetLimitsOperationsThatRunTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := BudgetOptions{
			Ratio:     rapid.Float64Range(0, 1).Draw(t, "ratio"),
			PerSecond: rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 200)).Draw(t, "per second"),
			Burst:     rapid.Float64Range(1, 6).Draw(t, "burst"),
		}
		crowd := callers().Draw(t, "callers")
		rapid.SyncTest(t, func(t *rapid.T) {
			l := &ledger{start: time.Now()}
			e := made(t, Options{Strategy: RetryOnce(), Budget: newBudget(o, l.start), Observer: l})
			var all sync.WaitGroup
			for _, c := range crowd {
				all.Go(func() { c.run(context.Background(), e) })
			}
			all.Wait()
			ends := slices.DeleteFunc(l.all, func(k EventKind) bool { return k != EventEnded })
			if len(ends) != len(crowd) {
				t.Fatalf("%d of %d operations ended", len(ends), len(crowd))
			}
			checkEveryPeriod(t, o, l.byTime())
		})
	})
}

// payAllTokens pays all tokens of an engine's budget, which is never refilled, and returns their number.
func payAllTokens(t *testing.T, e *Engine) (n int) {
	t.Helper()
	for ; ; n++ {
		err := e.Do(t.Context(), Operation{Strategy: RetryOnce()}, failing(errBroken))
		switch stop := stopReasonOfError(t, err); {
		case stop == StopBudgetEmpty:
			return n
		case stop != StopAttemptsUsed || errors.Is(err, ErrBreakerOpen):
			t.Fatal(err)
		}
	}
}

func TestTheTokenOfACancelledWaitIsPaidBack(t *testing.T) {
	const waiting = 20
	synctest.Test(t, func(t *testing.T) {
		e := made(t, Options{Strategy: after(time.Hour), Budget: bucket(waiting)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range waiting {
			all.Go(func() {
				if stop := stopReasonOfError(t, e.Do(ctx, Operation{}, failing(errBroken))); stop != StopCancelled {
					t.Errorf("ended as %v, want cancelled", stop)
				}
			})
		}
		synctest.Wait()
		if n := payAllTokens(t, e); n != 0 {
			t.Errorf("%d tokens are left while all retries wait, want 0", n)
		}
		cancel()
		all.Wait()
		if n := payAllTokens(t, e); n != waiting {
			t.Errorf("%d tokens are left after %d retries were cancelled", n, waiting)
		}
	})
}

func TestARefusedRetryCostsNoToken(t *testing.T) {
	const burst = 3
	always := Failure{Err: errBroken, Stage: StageBeforeSending, Reason: alwaysRetried}
	for _, c := range []struct {
		name     string
		strategy Strategy
		failure  Failure
		attempts int
		stop     StopReason // NotStopped: the operation succeeds
	}{
		{"the deadline refuses", after(time.Hour), Failure{Stage: StageBeforeSending, Reason: ReasonConnectionFailed}, 1, StopDeadlineWouldPass},
		{"the breaker refuses", RetryOnce(), Failure{Stage: StageBeforeSending, Reason: ReasonConnectionFailed, Endpoint: "bad"}, 1, StopBreakerOpen},
		{"the strategy refuses", Limited(1, UntilDeadline()), Failure{Stage: StageBeforeSending, Reason: ReasonConnectionFailed}, 1, StopAttemptsUsed},
		{"the operation is not idempotent", RetryOnce(), Failure{Reason: ReasonNetworkError}, 1, StopNotIdempotent},
		{"the reason is unknown", RetryOnce(), Failure{Stage: StageBeforeSending}, 1, StopNotRetryable},
		{"the reason is always retried", RetryOnce(), always, 2 * burst, NotStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				breaker := DefaultBreakerOptions()
				breaker.Volume = 1
				breaker.Judge = func(f Failure) Health {
					if f.Endpoint == "bad" {
						return HealthBad
					}
					return HealthUnknown
				}
				e := made(t, Options{Strategy: RetryOnce(), Budget: bucket(burst), Breaker: breaker})
				c.failure.Err = errBroken
				attempts := 0
				err := e.Do(ctx, Operation{Strategy: c.strategy}, func(context.Context, int) Failure {
					attempts++
					if c.stop == NotStopped && attempts == c.attempts {
						return Failure{}
					}
					return c.failure
				})
				if attempts != c.attempts || (err == nil) != (c.stop == NotStopped) || err != nil && stopReasonOfError(t, err) != c.stop {
					t.Fatalf("%d attempts, want %d: %v, want %v", attempts, c.attempts, err, c.stop)
				}
				<-time.After(breaker.OpenTimeout)
				e.breaker.Done(e.breaker.permit(), HealthGood)
				if n := payAllTokens(t, e); n != burst {
					t.Errorf("%d tokens are left of %d", n, burst)
				}
			})
		})
	}
}

func TestTheTokenOfARetryThatTheBreakerStopsIsPaidBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := &BreakerOptions{Volume: 1, Percent: 100, Window: time.Minute, OpenTimeout: 5 * time.Second}
		e := made(t, Options{Strategy: RetryOnce(), Budget: bucket(1), Breaker: breaker})
		opened := e.Do(t.Context(), Operation{}, func(context.Context, int) Failure { return Failure{Err: errBroken} })
		if stopReasonOfError(t, opened) != StopNotRetryable || e.breaker.State() != BreakerOpen {
			t.Fatalf("the breaker is %v after %v", e.breaker.State(), opened)
		}
		time.AfterFunc(breaker.OpenTimeout, func() { e.breaker.Allow() }) // another caller's probe, which never ends

		waits := Limited(2, after(breaker.OpenTimeout+time.Second))
		err := e.Do(t.Context(), Operation{Strategy: waits}, func(context.Context, int) Failure {
			t.Error("an attempt was made")
			return Failure{}
		})
		if stopReasonOfError(t, err) != StopAttemptsUsed || !errors.Is(err, ErrBreakerOpen) {
			t.Errorf("error: %v", err)
		}
		if !e.budget.pay(time.Now()) {
			t.Error("the token was not paid back")
		}
	})
}

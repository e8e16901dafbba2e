package retry_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

var overloaded = retry.Failure{Err: io.EOF, Stage: retry.StageAnswered, Reason: retry.ReasonOverloaded}

// "At most maxAdaptiveRetries times (default 2; also caps every other retry of that operation once an overload was seen)."
func TestTheLimitOfOverloadRetries(t *testing.T) {
	for _, c := range []struct {
		name      string
		retries   int
		otherwise retry.Strategy
		failures  []retry.Failure
		attempts  int
		stop      retry.StopReason
	}{
		{"twice", 2, retry.RetryOnce(), []retry.Failure{overloaded, overloaded}, 3, retry.NotStopped},
		{"not three times", 2, retry.RetryOnce(), []retry.Failure{overloaded, overloaded, overloaded}, 3, retry.StopAttemptsUsed},
		{"not at all", 0, retry.RetryOnce(), []retry.Failure{overloaded}, 1, retry.StopAttemptsUsed},
		{"an overload caps the other retries after it", 2, retry.UntilDeadline(), []retry.Failure{overloaded, inFlight, inFlight}, 3, retry.StopAttemptsUsed},
		{"an overload allows the other retries after it", 2, retry.RetryOnce(), []retry.Failure{overloaded, inFlight}, 3, retry.NotStopped},
		{"the retries before an overload count", 2, retry.RetryOnce(), []retry.Failure{inFlight, overloaded, overloaded}, 3, retry.StopAttemptsUsed},
		{"too many retries before an overload", 2, retry.UntilDeadline(), []retry.Failure{inFlight, inFlight, overloaded}, 3, retry.StopAttemptsUsed},
		{"without an overload the other strategy decides", 2, retry.RetryOnce(), []retry.Failure{inFlight, inFlight}, 2, retry.StopAttemptsUsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempt, made := script(c.failures...)
				strategy := retry.Overload(c.retries, c.otherwise)
				err := engine(t, retry.Options{Strategy: strategy}).Do(t.Context(), retry.Operation{}, attempt)
				if *made != c.attempts || stopReasonOf(err) != c.stop {
					t.Errorf("%d attempts, %v; want %d, %v", *made, err, c.attempts, c.stop)
				}
			})
		})
	}
}

// "n counts every retry of the operation, whatever its cause. Backoff is applied if and only if the error is an overload error."
func TestTheDelayOfAnOverloadRetry(t *testing.T) {
	const samples = 400
	based := with(overloaded, func(f *retry.Failure) { f.BaseBackoff = 30 * ms })
	for _, c := range []struct {
		name     string
		failures []retry.Failure
		ceiling  time.Duration
	}{
		{"the first retry", []retry.Failure{overloaded}, 200 * ms},
		{"the second, after another kind of failure", []retry.Failure{inFlight, overloaded}, 400 * ms},
		{"the server's own base", []retry.Failure{based}, 60 * ms},
		{"other retries are immediate", []retry.Failure{inFlight, inFlight}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine(t, retry.Options{Strategy: retry.Overload(2, retry.UntilDeadline())})
				var most time.Duration
				for range samples {
					attempt, _ := script(c.failures...)
					start := time.Now()
					if err := e.Do(t.Context(), retry.Operation{}, attempt); err != nil {
						t.Fatal(err)
					}
					most = max(most, time.Since(start))
				}
				if most > c.ceiling || most < c.ceiling*95/100 {
					t.Errorf("the longest delay is %v, want nearly %v and not more", most, c.ceiling)
				}
			})
		})
	}
}

// "No sleep if it would pass the deadline."
func TestAnOverloadDelayPastTheDeadlineIsNotWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, retry.Options{Strategy: retry.Overload(2, retry.RetryOnce())})
		refused := 0
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			r := do(ctx, e, retry.Operation{}, overloaded, 1)
			cancel()
			if stopReasonOf(r.err) == retry.StopDeadlineWouldPass {
				refused++
				r.check(t, []time.Duration{0}, 0, retry.StopDeadlineWouldPass)
			} else if stopReasonOf(r.err) != retry.NotStopped || r.ended >= 100*ms {
				t.Errorf("ended at %v: %v", r.ended, r.err)
			}
		}
		if refused == 0 || refused == 100 {
			t.Errorf("%d of 100 delays would have passed the deadline, which is at half of the longest delay", refused)
		}
	})
}

package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// refusedForGood is a failure that is not tried again.
var refusedForGood = retry.Failure{Err: context.Canceled, Stage: retry.StageAnswered}

// A success that began before the breaker's latest change of state shows nothing about the new state: it counts for nobody.
func TestASuccessFromBeforeTheBreakerOpenedIsNotCounted(t *testing.T) {
	b := bucket(t, retry.BudgetOptions{Ratio: 1, Burst: 10})
	opens := retry.BreakerOptions{Volume: 1, Percent: 100, Window: time.Minute, OpenTimeout: time.Minute}
	e := engine(t, retry.Options{Strategy: retry.Limited(1, retry.RetryOnce()), Budget: b, Breaker: &opens, EndpointBreaker: &opens})
	for _, op := range []retry.Operation{{}, {Endpoint: "a:1"}} {
		paid := engine(t, retry.Options{Strategy: retry.RetryOnce(), Budget: b})
		failing, _ := script(inFlight, refusedForGood)
		_ = paid.Do(t.Context(), retry.Operation{}, failing)
		before := b.Tokens()
		err := e.Do(t.Context(), op, func(ctx context.Context, _ int) retry.Failure {
			_ = e.Do(ctx, op, func(context.Context, int) retry.Failure { return inFlight })
			return retry.Failure{}
		})
		if err != nil || b.Tokens() != before {
			t.Errorf("endpoint %q: %v tokens, want %v; %v", op.Endpoint, b.Tokens(), before, err)
		}
	}
}

// Each success counts once for budget and breaker, whether it came at once or after a retry.
func TestEachSuccessCountsOnce(t *testing.T) {
	atOnce := func(t *testing.T, e *retry.Engine) {
		t.Helper()
		attempt, _ := script()
		if err := e.Do(t.Context(), retry.Operation{}, attempt); err != nil {
			t.Fatal(err)
		}
	}
	afterAlwaysRetry := func(t *testing.T, e *retry.Engine) {
		t.Helper()
		attempt, _ := script(notMyVBucket) // costs the budget nothing
		if err := e.Do(t.Context(), retry.Operation{}, attempt); err != nil {
			t.Fatal(err)
		}
	}
	never := retry.DefaultBreakerOptions()
	never.Volume = 1000
	for _, c := range []struct {
		name    string
		breaker *retry.BreakerOptions
		succeed func(*testing.T, *retry.Engine)
	}{
		{"at once", nil, atOnce},
		{"at once, with a breaker", never, atOnce},
		{"after a retry", nil, afterAlwaysRetry},
		{"after a retry, with a breaker", never, afterAlwaysRetry},
	} {
		t.Run("for the budget, "+c.name, func(t *testing.T) {
			e := engine(t, retry.Options{
				Strategy: retry.RetryOnce(), Budget: bucket(t, retry.BudgetOptions{Ratio: 0.25, Burst: 1}), Breaker: c.breaker,
			})
			var granted []bool
			for range 9 {
				attempt, made := script(inFlight, refusedForGood)
				_ = e.Do(t.Context(), retry.Operation{}, attempt)
				granted = append(granted, *made == 2)
				c.succeed(t, e)
			}
			for i, got := range granted {
				if want := i%4 == 0; got != want {
					t.Errorf("after %d successes a retry was granted: %v", i, got)
				}
			}
		})
	}
	for _, c := range []struct {
		successes int
		opens     bool
	}{{5, true}, {6, false}} {
		e := engine(t, retry.Options{
			Strategy: retry.RetryOnce(), Breaker: &retry.BreakerOptions{Volume: 10, Percent: 50, Window: time.Minute, OpenTimeout: time.Minute},
		})
		for range c.successes {
			atOnce(t, e)
		}
		for range 5 {
			attempt, _ := script(with(inFlight, func(f *retry.Failure) { f.Stop = retry.StopDisabled }))
			_ = e.Do(t.Context(), retry.Operation{}, attempt)
		}
		attempt, made := script()
		_ = e.Do(t.Context(), retry.Operation{}, attempt)
		if (*made == 0) != c.opens {
			t.Errorf("after %d successes and 5 failures the breaker let %d attempts through", c.successes, *made)
		}
	}
}

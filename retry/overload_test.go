package retry_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

var overloaded = retry.Failure{Err: io.EOF, Stage: retry.Responded, Reason: retry.Overloaded}

func TestOverloadIsRetriedAtMostSoOften(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures []retry.Failure
		attempts int
		why      retry.Why
	}{
		{"twice", []retry.Failure{overloaded, overloaded}, 3, retry.Retried},
		{"not three times", []retry.Failure{overloaded, overloaded, overloaded}, 3, retry.AttemptsUsed},
		{"it caps other retries once it was seen", []retry.Failure{overloaded, inFlight, inFlight}, 3, retry.AttemptsUsed},
		{"it counts other retries before it", []retry.Failure{inFlight, overloaded, overloaded}, 3, retry.AttemptsUsed},
		{"without it the other rule holds", []retry.Failure{inFlight, inFlight}, 2, retry.AttemptsUsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempt, made := script(c.failures...)
				strategy := retry.Overload{Retries: 2, Otherwise: retry.Once()}
				err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{Strategy: strategy}, attempt)
				var e *retry.Error
				if *made != c.attempts || (err == nil) != (c.why == retry.Retried) || errors.As(err, &e) && e.Why() != c.why {
					t.Errorf("%d attempts, %v", *made, err)
				}
			})
		})
	}
}

func TestOverloadBackoffIsUniformBelowItsCeiling(t *testing.T) {
	const samples = 4000
	for _, c := range []struct {
		n             int
		base, ceiling time.Duration
	}{
		{1, 0, 200 * time.Millisecond},
		{2, 0, 400 * time.Millisecond},
		{1, 30 * time.Millisecond, 60 * time.Millisecond},
		{1, -time.Second, 200 * time.Millisecond},
		{7, 0, 10 * time.Second},
		{1000, 0, 10 * time.Second},
	} {
		var least, most, sum time.Duration = time.Hour, 0, 0
		for range samples {
			d := retry.OverloadBackoff(c.n, c.base)
			least, most, sum = min(least, d), max(most, d), sum+d
		}
		if most > c.ceiling || most < c.ceiling*95/100 || least > c.ceiling*5/100 {
			t.Errorf("n=%d base=%v: between %v and %v, want 0 to %v", c.n, c.base, least, most, c.ceiling)
		}
		if mean := sum / samples; mean < c.ceiling*45/100 || mean > c.ceiling*55/100 {
			t.Errorf("n=%d base=%v: on average %v, want about half of %v", c.n, c.base, mean, c.ceiling)
		}
	}
}

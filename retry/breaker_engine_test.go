package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// guarded returns an engine whose breaker opens at the first failure, for five seconds.
func guarded(t *testing.T, s retry.Strategy, change func(*retry.BreakerOptions)) *retry.Engine {
	t.Helper()
	o := retry.DefaultBreakerOptions()
	o.Volume = 1
	if change != nil {
		change(o)
	}
	return engine(t, retry.Options{Strategy: s, Breaker: o})
}

// trip opens an engine's breaker.
func trip(t *testing.T, e *retry.Engine) {
	t.Helper()
	err := e.Do(t.Context(), retry.Operation{Strategy: retry.Limited(1, retry.UntilDeadline())}, func(context.Context, int) retry.Failure {
		return inFlight
	})
	if stopReasonOf(err) != retry.StopAttemptsUsed {
		t.Fatal(err)
	}
}

func TestAStrategyDecidesWhetherToWaitForTheBreaker(t *testing.T) {
	const sleep = 5 * time.Second
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		attempts int // that were made
		took     time.Duration
		stop     retry.StopReason // NotStopped: it succeeds
	}{
		{"a delay that ends when the probe is permitted is waited", afterEach(sleep), 1, sleep, retry.NotStopped},
		{"a longer delay is waited too", afterEach(sleep + time.Hour), 1, sleep + time.Hour, retry.NotStopped},
		{"a delay that ends earlier is not waited", afterEach(sleep - 1), 0, 0, retry.StopBreakerOpen},
		{"a retry at once is not made", retry.RetryOnce(), 0, 0, retry.StopBreakerOpen},
		{"the strategy declines", retry.Limited(1, retry.UntilDeadline()), 0, 0, retry.StopAttemptsUsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := guarded(t, retry.RetryOnce(), nil)
				trip(t, e)
				var asked []retry.Reason
				strategy := retry.StrategyFunc(func(ctx context.Context, r retry.OperationState, f retry.Failure) (retry.Action, error) {
					asked = append(asked, f.Reason)
					return c.strategy.RetryAfter(ctx, r, f)
				})
				attempts, start := 0, time.Now()
				err := e.Do(t.Context(), retry.Operation{Strategy: strategy}, func(context.Context, int) retry.Failure {
					attempts++
					return retry.Failure{}
				})
				if took := time.Since(start); attempts != c.attempts || took != c.took {
					t.Errorf("%d attempts in %v, want %d in %v", attempts, took, c.attempts, c.took)
				}
				if !slices.Equal(asked, []retry.Reason{retry.ReasonCircuitBreakerOpen}) {
					t.Errorf("the strategy was asked about the reasons %v", asked)
				}
				if c.stop == retry.NotStopped {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var got *retry.Error
				if !errors.As(err, &got) || got.StopReason() != c.stop || !errors.Is(err, retry.ErrBreakerOpen) || !got.OutcomeKnown() ||
					got.Last().Stage != retry.StageBeforeSending {
					t.Errorf("error: %v", err)
				}
			})
		})
	}
}

func TestAFailureThatOpensTheBreakerIsTheOperationsError(t *testing.T) {
	e := guarded(t, retry.RetryOnce(), nil)
	attempt, made := script(inFlight)
	err := e.Do(t.Context(), retry.Operation{}, attempt)
	if *made != 1 || stopReasonOf(err) != retry.StopBreakerOpen || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, retry.ErrBreakerOpen) {
		t.Errorf("%d attempts: %v", *made, err)
	}
}

// permits reports whether an engine's breaker permits an attempt, which succeeds then.
func permits(t *testing.T, e *retry.Engine) (made bool) {
	t.Helper()
	_ = e.Do(t.Context(), retry.Operation{Strategy: retry.Limited(1, retry.UntilDeadline())}, func(context.Context, int) retry.Failure {
		made = true
		return retry.Failure{}
	})
	return made
}

func cancelDuringAttempt(t *testing.T, e *retry.Engine) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
		cancel()
		return inFlight
	})
	if stop := stopReasonOf(err); stop != retry.StopCancelled {
		t.Errorf("ended as %v, want cancelled", stop)
	}
}

func TestACancelledAttemptDoesNotChangeTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.RetryOnce(), nil)
		for range 100 {
			cancelDuringAttempt(t, e)
		}
		if !permits(t, e) {
			t.Fatal("cancelled attempts opened the breaker")
		}
		trip(t, e)
		pass(5 * time.Second)
		cancelDuringAttempt(t, e)
		if !permits(t, e) {
			t.Error("no other probe is permitted after a cancelled one")
		}
	})
}

func TestAnAttemptThatLastsUntilTheDeadlineIsAFailureForTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.RetryOnce(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := e.Do(ctx, retry.Operation{}, func(ctx context.Context, _ int) retry.Failure {
			<-ctx.Done()
			return inFlight
		})
		if stopReasonOf(err) != retry.StopDeadlineWouldPass || permits(t, e) {
			t.Errorf("the breaker is closed after: %v", err)
		}
	})
}

func TestAPanicOfTheProbeDoesNotKeepTheBreakerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.RetryOnce(), nil)
		trip(t, e)
		pass(5 * time.Second)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the caller does not see the panic")
				}
			}()
			_ = e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure { panic("probe") })
		}()
		pass(5*time.Second - 1)
		if permits(t, e) {
			t.Error("a second probe is permitted before OpenTimeout is over")
		}
		pass(1)
		if !permits(t, e) {
			t.Error("no probe is permitted after OpenTimeout")
		}
		if !permits(t, e) {
			t.Error("the probe's success does not close the breaker")
		}
	})
}

func TestAProbeCanBeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []change
		e := guarded(t, afterEach(5*time.Second), func(o *retry.BreakerOptions) {
			o.OnChange = func(from, to retry.BreakerState) { changes = append(changes, change{from, to}) }
		})
		attempt, made := script(inFlight, inFlight)
		if err := e.Do(t.Context(), retry.Operation{}, attempt); err != nil || *made != 3 {
			t.Errorf("%d attempts: %v", *made, err)
		}
		if want := []change{legal[0], legal[1], legal[3], legal[1], legal[2]}; !slices.Equal(changes, want) {
			t.Errorf("changes %v, want %v", changes, want)
		}
	})
}

func TestABreakerWithAJudgeOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		health retry.Health
		opens  bool
	}{{retry.HealthBad, true}, {retry.HealthGood, false}, {retry.HealthUnknown, false}} {
		t.Run(fmt.Sprint(c.health), func(t *testing.T) {
			var asked []retry.Failure
			e := guarded(t, retry.RetryOnce(), func(o *retry.BreakerOptions) {
				o.Judge = func(f retry.Failure) retry.Health {
					asked = append(asked, f)
					return c.health
				}
			})
			trip(t, e)
			if !slices.Equal(asked, []retry.Failure{inFlight}) {
				t.Errorf("Judge was called with %v", asked)
			}
			if open := !permits(t, e); open != c.opens {
				t.Errorf("open is %v, want %v", open, c.opens)
			}
		})
	}
}

// endpoints is a client of two servers with a breaker for each. An attempt goes to the first whose breaker permits it.
type endpoints struct {
	names    []string
	breakers []*retry.Breaker
	down     map[string]bool
	sent     map[string]int
}

func (c *endpoints) attempt(context.Context, int) retry.Failure {
	for i, b := range c.breakers {
		permit, ok := b.Allow()
		if !ok {
			continue
		}
		c.sent[c.names[i]]++
		if c.down[c.names[i]] {
			f := retry.Failure{Err: io.EOF, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed, Endpoint: c.names[i]}
			b.Done(permit, retry.JudgeFailure(f))
			return f
		}
		b.Done(permit, retry.HealthGood)
		return retry.Failure{}
	}
	return retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.StageBeforeSending, Reason: retry.ReasonCircuitBreakerOpen}
}

func TestABreakerForEachEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &endpoints{names: []string{"a", "b"}, down: map[string]bool{"a": true}, sent: map[string]int{}}
		for range c.names {
			o := *retry.DefaultBreakerOptions()
			o.Volume = 3
			c.breakers = append(c.breakers, newBreaker(t, o))
		}
		e := engine(t, retry.Options{Strategy: retry.Limited(4, retry.UntilDeadline())})
		do := func() error { return e.Do(t.Context(), retry.Operation{}, c.attempt) }
		for range 10 {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		if c.sent["a"] != 3 || c.sent["b"] != 10 {
			t.Errorf("sent %v, want 3 to a, whose breaker then opened, and 10 to b", c.sent)
		}
		c.down["b"] = true
		err := do()
		if stop := stopReasonOf(err); stop != retry.StopAttemptsUsed || !errors.Is(err, io.EOF) {
			t.Errorf("while b's breaker is not open: %v", err)
		}
		for range 3 {
			err = do()
		}
		if !errors.Is(err, retry.ErrBreakerOpen) {
			t.Errorf("while both are open: %v", err)
		}
		clear(c.down)
		pass(5 * time.Second)
		if err := do(); err != nil || c.breakers[0].State() != retry.BreakerClosed {
			t.Errorf("after OpenTimeout: %v, and a's breaker is %v", err, c.breakers[0].State())
		}
	})
}

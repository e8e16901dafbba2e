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
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// Every case is a sentence of RFC 0049 or of the MongoDB specifications. All combinations are in docs/ENGINE.md.
func TestDecisions(t *testing.T) {
	notIdempotent := with(inFlight, func(f *retry.Failure) { f.Idempotency = retry.NotIdempotent })
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		failures []retry.Failure
		attempts int
		stop     retry.StopReason // NotStopped: the operation succeeds
	}{
		{"success is one attempt", retry.RetryOnce(), nil, 1, retry.NotStopped},
		{"in flight only idempotent requests are retried", retry.RetryOnce(), []retry.Failure{inFlight}, 2, retry.NotStopped},
		{"in flight and not idempotent is not retried", retry.RetryOnce(), []retry.Failure{notIdempotent}, 1, retry.StopNotIdempotent},
		{
			"in flight and not idempotent is not retried, even for an always-retry reason", retry.RetryOnce(),
			[]retry.Failure{with(notMyVBucket, func(f *retry.Failure) { f.Stage = retry.StageInFlight })},
			1, retry.StopNotIdempotent,
		},
		{"once is one retry", retry.RetryOnce(), []retry.Failure{inFlight, inFlight}, 2, retry.StopAttemptsUsed},
		{"a limit within a larger one", retry.Limited(5, retry.Limited(2, retry.UntilDeadline())), []retry.Failure{inFlight, inFlight}, 2, retry.StopAttemptsUsed},
		{"a limit within a smaller one", retry.Limited(2, retry.Limited(5, retry.UntilDeadline())), []retry.Failure{inFlight, inFlight}, 2, retry.StopAttemptsUsed},
		{
			"before dispatch anything may be retried", retry.RetryOnce(),
			[]retry.Failure{with(notIdempotent, func(f *retry.Failure) { f.Stage = retry.StageBeforeSending })},
			2, retry.NotStopped,
		},
		{
			"a forgotten stage is in flight", retry.RetryOnce(),
			[]retry.Failure{{Err: io.EOF, Reason: mongoreason.PoolCleared}},
			1, retry.StopNotIdempotent,
		},
		{
			"an answer that means that nothing was applied is retried", retry.RetryOnce(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.StageAnswered, Reason: mongoreason.NotWritablePrimary}},
			2, retry.NotStopped,
		},
		{
			"an answer that does not mean that is not retried", retry.RetryOnce(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.StageAnswered, Reason: mongoreason.RetryableCode}},
			1, retry.StopNotIdempotent,
		},
		{
			"an unsettled answer is not retried", retry.RetryOnce(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.StageAnswered, Reason: mongoreason.NodeRecovering, Unsettled: true}},
			1, retry.StopNotIdempotent,
		},
		{
			"an unsettled answer is retried if the attempt is idempotent", retry.RetryOnce(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.StageAnswered, Reason: mongoreason.NodeRecovering, Unsettled: true, Idempotency: retry.Idempotent}},
			2, retry.NotStopped,
		},
		{
			"UNKNOWN is refused before the strategy is asked, idempotent or not", afterEach(0),
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Reason = retry.ReasonUnknown })},
			1, retry.StopNotRetryable,
		},
		{
			"the attempt's own refusal is final", afterEach(0),
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Stop = retry.StopNoServer })},
			1, retry.StopNoServer,
		},
		{"the zero Action declines", saying(retry.Action{}, nil), []retry.Failure{inFlight}, 1, retry.StopStrategyDeclined},
		{"a strategy's error declines", saying(retry.After(0), io.EOF), []retry.Failure{inFlight}, 1, retry.StopStrategyDeclined},
		{"a strategy that declines says why", saying(retry.Decline(retry.StopDisabled), nil), []retry.Failure{inFlight}, 1, retry.StopDisabled},
		{
			"the strategy's Why has precedence over not idempotent", saying(retry.Decline(retry.StopDisabled), nil),
			[]retry.Failure{notIdempotent},
			1, retry.StopDisabled,
		},
		{
			"a second failure that may not be retried ends the operation", retry.UntilDeadline(),
			[]retry.Failure{inFlight, notIdempotent},
			2, retry.StopNotIdempotent,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempt, made := script(c.failures...)
			err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), retry.Operation{Strategy: c.strategy}, attempt)
			if *made != c.attempts {
				t.Errorf("%d attempts, want %d", *made, c.attempts)
			}
			if stop := stopReasonOf(err); stop != c.stop {
				t.Errorf("ended as %v, want %v (%v)", stop, c.stop, err)
			}
			if err != nil && !errors.Is(err, c.failures[c.attempts-1].Err) {
				t.Errorf("the last error is not found in %v", err)
			}
		})
	}
}

// The operation's idempotency is RFC 0049's idempotent flag. An attempt's own idempotency can be better; it is never worse.
func TestTheBetterIdempotencyOfOperationAndAttemptCounts(t *testing.T) {
	for i, operations := range idempotencies {
		for j, attempts := range idempotencies {
			better := idempotencies[max(i, j)]
			want := retry.StopNotIdempotent // in flight
			if better != retry.NotIdempotent {
				want = retry.StopDisabled // the strategy declines after the second failure
			}
			t.Run(fmt.Sprintf("%v, the attempt %v", operations, attempts), func(t *testing.T) {
				var seen []retry.Idempotency
				strategy := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, f retry.Failure) (retry.Action, error) {
					seen = append(seen, f.Idempotency)
					if r.Idempotency != operations {
						t.Errorf("the strategy sees the operation as %v, want %v", r.Idempotency, operations)
					}
					if r.Retries > 0 {
						return retry.Decline(retry.StopDisabled), nil
					}
					return retry.After(0), nil
				})
				f := with(inFlight, func(f *retry.Failure) { f.Idempotency = attempts })
				attempt, _ := script(f, f)
				err := engine(t, retry.Options{Strategy: strategy}).Do(context.Background(), retry.Operation{Idempotency: operations}, attempt)
				var failed *retry.Error
				if !errors.As(err, &failed) || failed.StopReason() != want || failed.Last().Idempotency != better || seen[0] != better {
					t.Errorf("the strategy saw %v, %v; want %v, %v", seen, err, better, want)
				}
			})
		}
	}
}

// One server recognises repetitions and the next does not.
func TestEachAttemptHasItsOwnIdempotency(t *testing.T) {
	attempt, made := script(inFlight, with(inFlight, func(f *retry.Failure) { f.Idempotency = retry.NotIdempotent }))
	err := engine(t, retry.Options{Strategy: retry.UntilDeadline()}).Do(context.Background(), retry.Operation{}, attempt)
	if *made != 2 || stopReasonOf(err) != retry.StopNotIdempotent {
		t.Errorf("%d attempts, %v", *made, err)
	}
}

func TestAttemptsAreNumberedAndGetTheCallersContext(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "the caller's")
	var numbers []int
	err := engine(t, retry.Options{Strategy: retry.UntilDeadline()}).Do(ctx, retry.Operation{}, func(got context.Context, n int) retry.Failure {
		if got.Value(key{}) != "the caller's" {
			t.Error("the attempt has another context")
		}
		if numbers = append(numbers, n); n < 3 {
			return inFlight
		}
		return retry.Failure{}
	})
	if err != nil || !slices.Equal(numbers, []int{0, 1, 2, 3}) {
		t.Errorf("attempts %v, %v", numbers, err)
	}
}

func TestAnAttemptThatABreakerStoppedHasANumber(t *testing.T) {
	quick := retry.DefaultBreakerOptions()
	quick.Volume, quick.OpenTimeout = 1, 20*ms
	for _, c := range []struct {
		name     string
		attempts []time.Duration // how long each attempt lasts that is made
		numbers  []int
		ended    time.Duration
	}{
		{"the first is stopped", []time.Duration{0}, []int{1}, 30 * ms},
		{"the second is stopped", []time.Duration{1 * ms, 0}, []int{0, 2}, 61 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine(t, retry.Options{Strategy: afterEach(30 * ms), Breaker: quick})
				opens := func() {
					do(t.Context(), e, retry.Operation{Strategy: saying(retry.Action{}, nil)}, inFlight, 1)
				}
				if c.numbers[0] == 0 { // the breaker opens during the first attempt
					time.AfterFunc(ms/2, opens)
					time.AfterFunc(25*ms, func() { // and is half-open when the second should begin
						e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure {
							<-time.After(10 * ms)
							return retry.Failure{}
						})
					})
				} else {
					opens()
				}
				start := time.Now()
				var numbers []int
				err := e.Do(t.Context(), retry.Operation{}, func(_ context.Context, n int) retry.Failure {
					numbers = append(numbers, n)
					<-time.After(c.attempts[len(numbers)-1])
					if n == 0 {
						return inFlight
					}
					return retry.Failure{}
				})
				if took := time.Since(start); err != nil || !slices.Equal(numbers, c.numbers) || took != c.ended {
					t.Errorf("attempts %v in %v, %v; want %v in %v", numbers, took, err, c.numbers, c.ended)
				}
			})
		})
	}
}

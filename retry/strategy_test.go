package retry_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// RFC 0049: strategies are set globally and per request. The engine follows a rule without asking it; the result is the same.
func TestTheRequestsStrategyHasPrecedenceOverTheEngines(t *testing.T) {
	never := saying(retry.Decline(retry.StopDisabled), nil)
	for _, c := range []struct {
		name         string
		engines, its retry.Strategy
		attempts     int
		stop         retry.StopReason
	}{
		{"the engine's", never, nil, 1, retry.StopDisabled},
		{"the engine's, a rule", retry.Limited(3, retry.UntilDeadline()), nil, 3, retry.StopAttemptsUsed},
		{"the request's", never, saying(retry.After(0), nil), 5, retry.NotStopped},
		{"the request's, a rule", never, retry.Limited(3, retry.UntilDeadline()), 3, retry.StopAttemptsUsed},
		{"the request's, and the engine's is a rule", retry.Limited(3, retry.UntilDeadline()), never, 1, retry.StopDisabled},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempt, made := script(inFlight, inFlight, inFlight, inFlight)
			err := engine(t, retry.Options{Strategy: c.engines}).Do(context.Background(), retry.Operation{Strategy: c.its}, attempt)
			if *made != c.attempts || stopReasonOf(err) != c.stop {
				t.Errorf("%d attempts, %v; want %d, %v", *made, err, c.attempts, c.stop)
			}
		})
	}
}

// "Best effort: exponential between 1 and 500 ms, calculator replaceable": the engine waits for its delays, whether it is set
// globally or per request, alone or within a limit.
func TestTheEngineWaitsForBestEffortsDelays(t *testing.T) {
	growing := retry.BestEffort(retry.BackoffOptions{Calculator: func(retries int) time.Duration { return time.Duration(retries+1) * 7 * ms }})
	for name, strategy := range map[string]retry.Strategy{"alone": growing, "within a limit": retry.Limited(9, growing)} {
		for set, o := range map[string]struct{ engines, its retry.Strategy }{"globally": {strategy, nil}, "per request": {retry.RetryOnce(), strategy}} {
			t.Run(name+", "+set, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := do(t.Context(), engine(t, retry.Options{Strategy: o.engines}), retry.Operation{Strategy: o.its}, inFlight, 3)
					r.check(t, []time.Duration{0, 7 * ms, 21 * ms, 42 * ms}, 42*ms, retry.NotStopped)
				})
			})
		}
	}
	t.Run("without a calculator", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			at := do(t.Context(), engine(t, retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{})}), retry.Operation{}, inFlight, 20).at
			for i := 1; i < len(at); i++ {
				if delay, most := at[i]-at[i-1], min(500*ms, ms<<(i-1)); delay < ms || delay > most {
					t.Errorf("retry %d after %v, want 1 ms to %v", i, delay, most)
				}
			}
			if len(at) != 21 {
				t.Errorf("%d attempts, want 21", len(at))
			}
		})
	})
}

// A strategy is "given the request and the failure": the retries and the reasons so far, and the failure as the attempt returned it.
func TestTheStrategySeesTheRequestAndTheFailure(t *testing.T) {
	var requests []retry.OperationState
	var failures []retry.Failure
	strategy := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, f retry.Failure) (retry.Action, error) {
		requests, failures = append(requests, r), append(failures, f)
		return retry.After(0), nil
	})
	var planned []retry.Failure
	for i, reason := range []retry.Reason{
		mongoreason.PoolCleared, couchbasereason.KVLocked, mongoreason.PoolCleared, retry.ReasonOverloaded, mongoreason.NodeRecovering, mongoreason.NotWritablePrimary,
	} {
		planned = append(planned, retry.Failure{
			Err: io.EOF, Stage: retry.StageAnswered, Reason: reason, Endpoint: fmt.Sprint("host:", i), BaseBackoff: time.Duration(i), Idempotency: retry.Idempotent,
		})
	}
	attempt, _ := script(planned...)
	op := retry.Operation{Strategy: strategy, Idempotency: retry.Idempotent}
	if err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), op, attempt); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(failures, planned) {
		t.Errorf("the strategy saw\n%+v, want\n%+v", failures, planned)
	}
	// Read only now: a request that a strategy keeps must not change with later attempts.
	var seen []string
	for _, r := range requests {
		var reasons []string
		for reason := range r.Reasons.All() {
			reasons = append(reasons, reason.String())
		}
		seen = append(seen, fmt.Sprint(r.Retries, " ", r.Idempotency, " ", strings.Join(reasons, "+")))
	}
	want := []string{
		"0 idempotent ",
		"1 idempotent POOL_CLEARED",
		"2 idempotent POOL_CLEARED+KV_LOCKED",
		"3 idempotent POOL_CLEARED+KV_LOCKED",
		"4 idempotent POOL_CLEARED+KV_LOCKED+SYSTEM_OVERLOADED",
		"5 idempotent POOL_CLEARED+KV_LOCKED+SYSTEM_OVERLOADED+NODE_RECOVERING",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the strategy saw\n%q, want\n%q", seen, want)
	}
}

// OperationState.Retries and OperationState.Reasons include retries about which no strategy was asked.
func TestRetriesForAlwaysRetryReasonsCountForTheStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen string
		strategy := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, _ retry.Failure) (retry.Action, error) {
			seen += fmt.Sprint(r.Retries, r.Reasons.Has(couchbasereason.KVNotMyVBucket), " ")
			return retry.After(0), nil
		})
		attempt, _ := script(notMyVBucket, notMyVBucket, inFlight)
		if err := engine(t, retry.Options{Strategy: strategy}).Do(t.Context(), retry.Operation{}, attempt); err != nil || seen != "2 true " {
			t.Errorf("the strategy saw %q (%v)", seen, err)
		}
	})
}

// NotStopped stops nothing. Given as one, it must not cause a retry of an operation that is not idempotent.
func TestARefusalWithNotStoppedIsNotRetried(t *testing.T) {
	lost := with(inFlight, func(f *retry.Failure) { f.Idempotency = retry.NotIdempotent })
	refusing := with(lost, func(f *retry.Failure) { f.Stop = retry.NotStopped })
	for name, c := range map[string]struct {
		strategy retry.Strategy
		failure  retry.Failure
	}{
		"the strategy's": {saying(retry.Decline(retry.NotStopped), nil), lost},
		"the attempt's":  {retry.UntilDeadline(), refusing},
	} {
		t.Run(name, func(t *testing.T) {
			attempt, made := script(c.failure)
			err := engine(t, retry.Options{Strategy: c.strategy}).Do(context.Background(), retry.Operation{}, attempt)
			if *made != 1 || err == nil {
				t.Errorf("%d attempts, %v", *made, err)
			}
		})
	}
}

// extended embeds another strategy and overrides its answer.
type extended struct{ retry.Strategy }

func (extended) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return retry.Decline(retry.StopDisabled), nil
}

// RFC 0049: users "should extend the BestEffort retry strategy and only override the specific situations they need to".
func TestAStrategyThatEmbedsBestEffortIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt, made := script(inFlight, inFlight)
		err := engine(t, retry.Options{Strategy: extended{retry.BestEffort(retry.BackoffOptions{})}}).Do(t.Context(), retry.Operation{}, attempt)
		if *made != 1 || stopReasonOf(err) != retry.StopDisabled {
			t.Errorf("%d attempts, %v", *made, err)
		}
	})
}

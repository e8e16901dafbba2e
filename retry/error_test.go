package retry_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

func TestAnErrorTellsEveryAttempt(t *testing.T) {
	first := retry.Failure{Err: errors.New("reset"), Stage: retry.InFlight, Reason: retry.NetworkError, Effect: retry.ReadOnly, Endpoint: "a:1"}
	second := retry.Failure{Err: errors.New("refused"), Stage: retry.Dispatch, Reason: retry.ConnectionFailed, Endpoint: "b:2"}
	attempt, _ := script(first, second)
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{}, attempt)
	for _, want := range []string{"2 attempts", "a:1", "in flight", "NETWORK_ERROR", "reset", "b:2", "before sending", "refused", "attempts used up"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestOutcomeKnown(t *testing.T) {
	sent := retry.Failure{Err: io.EOF, Stage: retry.InFlight}
	unsent := retry.Failure{Err: io.EOF, Stage: retry.Dispatch}
	answered := retry.Failure{Err: io.EOF, Stage: retry.Responded}
	open := retry.Failure{Err: io.EOF, Stage: retry.Responded, Unsettled: true}
	always := retry.StrategyFunc(func(_ context.Context, r retry.Request, _ retry.Failure) (retry.Action, error) {
		if r.Retries == 1 {
			return retry.Decline(retry.AttemptsUsed), nil
		}
		return retry.After(0), nil
	})
	for _, c := range []struct {
		name   string
		effect retry.Effect
		first  retry.Failure
		second retry.Failure
		known  bool
	}{
		{"nothing was sent", retry.NotIdempotent, unsent, unsent, true},
		{"every sent attempt got an answer that means not applied", retry.NotIdempotent, answered, unsent, true},
		{"an attempt was in flight", retry.NotIdempotent, sent, unsent, false},
		{"an answer left it open", retry.NotIdempotent, unsent, open, false},
		{"the operation is idempotent", retry.Idempotent, sent, sent, true},
		{"the operation changes nothing", retry.ReadOnly, sent, open, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.first.Reason, c.second.Reason = retry.RetryableCode, retry.RetryableCode
			attempt, _ := script(c.first, c.second)
			err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{Strategy: always, Effect: c.effect}, attempt)
			var e *retry.Error
			if !errors.As(err, &e) || e.OutcomeKnown() != c.known {
				t.Errorf("known: %v, want %v (%v)", e.OutcomeKnown(), c.known, err)
			}
		})
	}
}

func TestEveryValueHasAName(t *testing.T) {
	seen := map[string]bool{}
	for w := retry.Undecided; w <= retry.NotBuilt; w++ {
		name := w.String()
		if name == "" || name == "unknown" || seen[name] {
			t.Errorf("why %d is called %q", w, name)
		}
		seen[name] = true
	}
	if retry.UnknownReason.String() != "UNKNOWN" || retry.UnknownReason.AllowsNonIdempotentRetry() || retry.UnknownReason.AlwaysRetry() {
		t.Error("the zero reason is not the unknown one")
	}
}

package retry_test

import (
	"context"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

// "User data attached to a context or request is visible to a strategy."
func TestTheStrategySeesTheCallersData(t *testing.T) {
	under := retry.WithData(context.Background(), "the context's")
	for _, c := range []struct {
		name string
		ctx  context.Context
		data any
		want any
	}{
		{"attached to the request", context.Background(), "the operation's", "the operation's"},
		{"attached to the context", under, nil, "the context's"},
		{"the request's has precedence over the context's", under, "the operation's", "the operation's"},
		{"the inner context's has precedence over the outer's", retry.WithData(under, "the inner's"), nil, "the inner's"},
		{"none", context.Background(), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := []any{}
			strategy := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, _ retry.Failure) (retry.Action, error) {
				seen = append(seen, r.Data)
				return retry.After(0), nil
			})
			attempt, _ := script(inFlight, inFlight)
			if err := engine(t, retry.Options{Strategy: strategy}).Do(c.ctx, retry.Operation{Data: c.data}, attempt); err != nil {
				t.Fatal(err)
			}
			if len(seen) != 2 || seen[0] != c.want || seen[1] != c.want {
				t.Errorf("the strategy saw %v, want %v twice", seen, c.want)
			}
		})
	}
}

// The example of RFC 0049: the request of a robot is not retried.
func TestAStrategyCanDecideByTheCallersData(t *testing.T) {
	noRobots := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, _ retry.Failure) (retry.Action, error) {
		if r.Data == "robot" {
			return retry.Decline(retry.StopDisabled), nil
		}
		return retry.After(0), nil
	})
	e := engine(t, retry.Options{Strategy: noRobots})
	for data, attempts := range map[string]int{"robot": 1, "human": 2} {
		attempt, made := script(inFlight)
		err := e.Do(retry.WithData(context.Background(), data), retry.Operation{}, attempt)
		if *made != attempts || (err == nil) != (attempts == 2) {
			t.Errorf("%s: %d attempts, want %d (%v)", data, *made, attempts, err)
		}
	}
}

func TestDataReturnsTheDataOfWithData(t *testing.T) {
	if got := retry.Data(context.Background()); got != nil {
		t.Errorf("without any: %v", got)
	}
	if got := retry.Data(retry.WithData(context.Background(), 7)); got != 7 {
		t.Errorf("%v, want 7", got)
	}
}

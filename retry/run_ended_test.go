package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

func TestRunDoesNotCallItsFunctionIfTheContextHasEnded(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("why"))
	late, end := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer end()
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce()})
	if err != nil {
		t.Fatal(err)
	}
	classify := func(error) (c retry.Class) { return c }
	calls := 0
	f := func(context.Context) error { calls++; return nil }
	for _, ctx := range []context.Context{cancelled, late} {
		_, ofValue := retry.Value(ctx, retry.ReadOnly, classify, func(ctx context.Context) (int, error) { return 1, f(ctx) })
		for name, err := range map[string]error{
			"Run":        retry.Run(ctx, retry.ReadOnly, classify, f),
			"Engine.Run": engine.Run(ctx, retry.ReadOnly, classify, f),
			"Value":      ofValue,
		} {
			if err != ctx.Err() || calls != 0 { //nolint:errorlint // it is that very value
				t.Errorf("%s: %d calls, %v", name, calls, err)
			}
		}
	}
}

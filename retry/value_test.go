package retry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

func TestValueReturnsTheResultOfTheLastCall(t *testing.T) {
	e := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	for name, value := range map[string]func(retry.Class, func(context.Context) (int, error)) (int, error){
		"the function": func(c retry.Class, f func(context.Context) (int, error)) (int, error) {
			return retry.Value(t.Context(), retry.ReadOnly, as(c), f)
		},
		"with an engine": func(c retry.Class, f func(context.Context) (int, error)) (int, error) {
			return retry.ValueWith(t.Context(), e, retry.ReadOnly, as(c), f)
		},
	} {
		for _, c := range []struct {
			name        string
			class       retry.Class
			fails       int
			want, calls int
			stop        retry.StopReason
		}{
			{"a success", retry.ClassUnknown, 0, 1, 1, retry.NotStopped},
			{"a success after a retry", retry.ClassNotSent, 1, 2, 2, retry.NotStopped},
			{"an error that is not retried has no result", retry.ClassPermanent, 1, 0, 1, retry.StopNotRetryable},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				calls := 0
				got, err := value(c.class, func(context.Context) (int, error) {
					if calls++; calls <= c.fails {
						return calls, errLost
					}
					return calls, nil
				})
				if got != c.want || calls != c.calls || stopReasonOf(err) != c.stop || err != nil && !errors.Is(err, errLost) {
					t.Errorf("%d after %d calls, %v; want %d after %d, %v", got, calls, err, c.want, c.calls, c.stop)
				}
			})
		}
	}
}

func TestValueRefusesNilAtOnce(t *testing.T) {
	f := func(context.Context) (string, error) { t.Error("called"); return "", nil }
	var none context.Context
	_, err := retry.Value[string](t.Context(), retry.ReadOnly, as(0), nil)
	mustSay(t, err, "retry: Run: f is nil")
	_, err = retry.Value(t.Context(), retry.ReadOnly, nil, f)
	mustSay(t, err, "retry: Run: classify is nil")
	_, err = retry.Value(none, retry.ReadOnly, as(0), f)
	mustSay(t, err, "retry: ctx is nil")
}

func TestValueAllocatesNothingForASuccessOrARetryAtOnce(t *testing.T) {
	e := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	fails := false
	for name, f := range map[string]func(context.Context) (int, error){
		"a success": func(context.Context) (int, error) { return 1, nil },
		"a retry at once": func(context.Context) (int, error) {
			if fails = !fails; fails {
				return 0, errLost
			}
			return 1, nil
		},
	} {
		classify := as(retry.ClassNotSent)
		if n := testing.AllocsPerRun(1000, func() {
			if v, err := retry.ValueWith(t.Context(), e, retry.ReadOnly, classify, f); v != 1 || err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

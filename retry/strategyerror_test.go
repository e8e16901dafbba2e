package retry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

var errNoConfiguration = errors.New("the limits could not be read")

// "A strategy's own error is in the error and its event."
func TestTheErrorOfAStrategyIsInTheErrorAndInItsEvents(t *testing.T) {
	own := saying(retry.After(0), errNoConfiguration)
	for name, strategy := range map[string]retry.Strategy{
		"a strategy of your own": own,
		"within Limited":         retry.Limited(3, own),
		"within Overload":        retry.Overload(3, own),
	} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{}
			attempt, made := script(inFlight)
			err := engine(t, retry.Options{Strategy: strategy, Observer: w}).Do(t.Context(), retry.Operation{Idempotency: retry.Idempotent}, attempt)
			if stopReasonOf(err) != retry.StopStrategyDeclined || *made != 1 {
				t.Fatalf("%d attempts, %v", *made, err)
			}
			matches(t, err, inFlight.Err, errNoConfiguration)
			if !strings.HasSuffix(err.Error(), " no more: strategy declined: "+errNoConfiguration.Error()+")") {
				t.Errorf("%v", err)
			}
			for i, want := range []error{nil, errNoConfiguration, errNoConfiguration} {
				if got := w.events[i].StrategyErr; !errors.Is(got, want) {
					t.Errorf("the event %v has %v, want %v", w.events[i].Kind, got, want)
				}
			}
		})
	}
}

func TestAStrategyThatDeclinesWithoutAnErrorAddsNone(t *testing.T) {
	attempt, _ := script(inFlight)
	err := engine(t, retry.Options{Strategy: saying(retry.Decline(retry.StopDisabled), nil)}).Do(t.Context(), retry.Operation{}, attempt)
	var failed *retry.Error
	if !errors.As(err, &failed) || failed.Last().StrategyErr != nil || len(failed.Unwrap()) != 1 {
		t.Errorf("%+v", err)
	}
}

// pointerStrategy is a strategy of a user's own, whose nil pointer is of no use.
type pointerStrategy struct{ action retry.Action }

func (s *pointerStrategy) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return s.action, nil
}

type functionStrategy func() retry.Action

func (f functionStrategy) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return f(), nil
}

// listStrategy asks one strategy after another. Its nil is of use.
type listStrategy []retry.Strategy

func (l listStrategy) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return retry.Decline(retry.StopDisabled), nil
}

// "A nil strategy inside an interface, and a nil context, are refused at once."
func TestAStrategyThatIsNilInsideIsRefusedAtOnce(t *testing.T) {
	for name, strategy := range map[string]retry.Strategy{
		"*retry_test.pointerStrategy": (*pointerStrategy)(nil),
		"retry_test.functionStrategy": functionStrategy(nil),
	} {
		says := []string{"it is a nil " + name, "must be a strategy"}
		_, err := retry.New(retry.Options{Strategy: strategy})
		mustSay(t, err, append(says, "retry: Options.Strategy: ")...)
		_, err = retry.New(retry.Options{Strategy: retry.Limited(2, strategy)})
		mustSay(t, err, append(says, "Limited: strategy: ")...)
		_, err = retry.New(retry.Options{Strategy: retry.Overload(2, strategy)})
		mustSay(t, err, append(says, "Overload: otherwise: ")...)
		attempt, made := script()
		err = engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(t.Context(), retry.Operation{Strategy: strategy}, attempt)
		mustSay(t, err, append(says, "retry: Operation.Strategy: ")...)
		if *made != 0 {
			t.Errorf("%d attempts were made", *made)
		}
	}
	for name, strategy := range map[string]retry.Strategy{
		"a nil slice": listStrategy(nil), "a pointer": &pointerStrategy{}, "a function": functionStrategy(func() retry.Action { return retry.After(0) }),
	} {
		if _, err := retry.New(retry.Options{Strategy: strategy}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANilContextOrFunctionIsRefusedAtOnce(t *testing.T) {
	var none context.Context
	e := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	attempt, made := script()
	f, calls := failTimes(0, nil)
	classify := as(retry.ClassUnknown)
	for name, c := range map[string]struct {
		run  func() error
		says string
	}{
		"Do without a context":               {func() error { return e.Do(none, retry.Operation{}, attempt) }, "retry: ctx is nil"},
		"Do without an attempt":              {func() error { return e.Do(t.Context(), retry.Operation{}, nil) }, "retry: Do: attempt is nil"},
		"an engine's Run without a context":  {func() error { return e.Run(none, retry.ReadOnly, classify, f) }, "retry: ctx is nil"},
		"an engine's Run without a function": {func() error { return e.Run(t.Context(), retry.ReadOnly, classify, nil) }, "retry: Run: f is nil"},
		"Run without a context":              {func() error { return retry.Run(none, retry.ReadOnly, classify, f) }, "retry: ctx is nil"},
		"Run without a function":             {func() error { return retry.Run(t.Context(), retry.ReadOnly, classify, nil) }, "retry: Run: f is nil"},
	} {
		err := c.run()
		mustSay(t, err, c.says, "must be")
		if ofAttempts := new(retry.Error); errors.As(err, &ofAttempts) || *made+*calls != 0 {
			t.Errorf("%s: %d calls, %v", name, *made+*calls, err)
		}
	}
}

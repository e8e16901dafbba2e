package retry_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

func calculator(int) time.Duration { return 0 }

// badStrategies are strategies made with wrong arguments. Their error must name the argument and the rule.
var badStrategies = []struct {
	name     string
	strategy retry.Strategy
	says     []string
}{
	{"StrategyFunc: a nil function", retry.StrategyFunc(nil), []string{"StrategyFunc: the function is nil"}},
	{"Limited: no attempts", retry.Limited(0, retry.RetryOnce()), []string{"Limited: attempts is 0", "at least 1"}},
	{"Limited: fewer than no attempts", retry.Limited(-1, retry.RetryOnce()), []string{"Limited: attempts is -1", "at least 1"}},
	{"Limited: a nil strategy", retry.Limited(2, nil), []string{"Limited: strategy: it is nil", "must be a strategy"}},
	{
		"Limited: a nil function",
		retry.Limited(2, retry.StrategyFunc(nil)),
		[]string{"Limited: strategy: StrategyFunc: the function is nil"},
	},
	{
		"Limited: another Limited without attempts",
		retry.Limited(2, retry.Limited(0, retry.RetryOnce())),
		[]string{"Limited: strategy: Limited: attempts is 0", "at least 1"},
	},
	{"Overload: a nil strategy", retry.Overload(2, nil), []string{"Overload: otherwise: it is nil", "must be a strategy"}},
	{
		"Overload: a nil function",
		retry.Overload(2, retry.StrategyFunc(nil)),
		[]string{"Overload: otherwise: StrategyFunc: the function is nil"},
	},
	{"Overload: fewer than no retries", retry.Overload(-1, retry.RetryOnce()), []string{"Overload: retries is -1", "not be negative"}},
	{
		"Overload around Limited around BestEffort with a negative Min",
		retry.Overload(0, retry.Limited(1, retry.BestEffort(retry.BackoffOptions{Min: -1}))),
		[]string{"Overload: otherwise: Limited: strategy: BackoffOptions.Min is -1ns", "not be negative"},
	},
	{"BestEffort: a negative Min", retry.BestEffort(retry.BackoffOptions{Min: -1}), []string{"BackoffOptions.Min is -1ns", "not be negative"}},
	{"BestEffort: a negative Max", retry.BestEffort(retry.BackoffOptions{Max: -1}), []string{"BackoffOptions.Max is -1ns", "not be negative"}},
	{
		"BestEffort: Min above Max",
		retry.BestEffort(retry.BackoffOptions{Min: 3 * time.Millisecond, Max: 2 * time.Millisecond}),
		[]string{"BackoffOptions.Min is 3ms", "more than its Max, 2ms", "at most"},
	},
	{
		"BestEffort: Min above the default Max",
		retry.BestEffort(retry.BackoffOptions{Min: time.Second}),
		[]string{"BackoffOptions.Min is 1s", "more than its Max, 500ms"},
	},
	{
		"BestEffort: Max below the default Min",
		retry.BestEffort(retry.BackoffOptions{Max: time.Microsecond}),
		[]string{"BackoffOptions.Min is 1ms", "more than its Max, 1µs"},
	},
	{
		"BestEffort: a Calculator and Min",
		retry.BestEffort(retry.BackoffOptions{Calculator: calculator, Min: 1}),
		[]string{"BackoffOptions", "Calculator", "only one"},
	},
	{
		"BestEffort: a Calculator and Max",
		retry.BestEffort(retry.BackoffOptions{Calculator: calculator, Max: 1}),
		[]string{"BackoffOptions", "Calculator", "only one"},
	},
}

// mustSay checks that an error contains all of these texts.
func mustSay(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; it must say %q", says)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestAStrategyWithWrongArgumentsIsAnErrorOfNew(t *testing.T) {
	for _, c := range badStrategies {
		t.Run(c.name, func(t *testing.T) {
			_, err := retry.New(retry.Options{Strategy: c.strategy})
			mustSay(t, err, append(c.says, "retry: Options.Strategy: ")...)
		})
	}
	t.Run("none", func(t *testing.T) {
		_, err := retry.New(retry.Options{})
		mustSay(t, err, "retry: Options.Strategy: it is nil", "must be a strategy")
	})
}

func TestAnOperationsStrategyWithWrongArgumentsIsAnErrorBeforeAnyAttempt(t *testing.T) {
	e := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	for _, c := range badStrategies {
		t.Run(c.name, func(t *testing.T) {
			attempt, made := script()
			err := e.Do(context.Background(), retry.Operation{Strategy: c.strategy}, attempt)
			mustSay(t, err, append(c.says, "retry: Operation.Strategy: ")...)
			if *made != 0 {
				t.Errorf("%d attempts were made", *made)
			}
			if ofAttempts := new(retry.Error); errors.As(err, &ofAttempts) {
				t.Errorf("the error holds attempts: %v", err)
			}
		})
	}
}

func budget(change func(*retry.BudgetOptions)) *retry.BudgetOptions {
	o := retry.DefaultBudgetOptions()
	change(o)
	return o
}

func breaker(change func(*retry.BreakerOptions)) *retry.BreakerOptions {
	o := retry.DefaultBreakerOptions()
	change(o)
	return o
}

func TestAWrongOptionIsAnErrorThatNamesTheOptionAndItsRule(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		options retry.Options
		says    []string
	}{
		{"a mode that does not exist", retry.Options{DeadlineMode: retry.DeadlineCapDelay + 1}, []string{"retry: Options.DeadlineMode is 2", "DeadlineGiveUp or DeadlineCapDelay"}},
		{"the last number of a mode", retry.Options{DeadlineMode: math.MaxUint8}, []string{"retry: Options.DeadlineMode is 255", "DeadlineGiveUp or DeadlineCapDelay"}},
		{"a negative time to wait for a server", retry.Options{MaxRetryAfter: -1}, []string{"retry: Options.MaxRetryAfter is -1ns", "not be negative"}},
		{"a negative time for an attempt", retry.Options{AttemptTimeout: -1}, []string{"retry: Options.AttemptTimeout is -1ns", "not be negative"}},
		{"an observer that is nil inside", retry.Options{Observer: (*watcher)(nil)}, []string{"retry: Options.Observer is a nil *retry_test.watcher", "must be an observer"}},
		{"no volume for an endpoint", retry.Options{EndpointBreaker: &retry.BreakerOptions{}}, []string{"retry: Options.EndpointBreaker: BreakerOptions.Volume is 0", "at least 1"}},

		{"no volume", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Volume = 0 })}, []string{"retry: BreakerOptions.Volume is 0", "at least 1"}},
		{"no percentage", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 0 })}, []string{"retry: BreakerOptions.Percent is 0", "above 0"}},
		{"a percentage below 0", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = -1 })}, []string{"retry: BreakerOptions.Percent is -1", "above 0"}},
		{"a percentage above 100", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 101 })}, []string{"retry: BreakerOptions.Percent is 101", "at most 100"}},
		{"a percentage that is not a number", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = nan })}, []string{"retry: BreakerOptions.Percent is NaN", "at most 100"}},
		{"no window", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = 0 })}, []string{"retry: BreakerOptions.Window is 0s", "at least 10 ns"}},
		{"a window of less than 10 ns", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = 9 })}, []string{"retry: BreakerOptions.Window is 9ns", "at least 10 ns"}},
		{"a negative window", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = -1 })}, []string{"retry: BreakerOptions.Window is -1ns", "at least 10 ns"}},
		{"no open timeout", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.OpenTimeout = 0 })}, []string{"retry: BreakerOptions.OpenTimeout is 0s", "positive"}},
		{"a negative open timeout", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.OpenTimeout = -1 })}, []string{"retry: BreakerOptions.OpenTimeout is -1ns", "positive"}},
		{"the zero breaker", retry.Options{Breaker: &retry.BreakerOptions{}}, []string{"retry: BreakerOptions.Volume is 0", "at least 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Strategy = retry.RetryOnce()
			e, err := retry.New(c.options)
			mustSay(t, err, c.says...)
			if e != nil {
				t.Error("New returned an engine and an error")
			}
			if b := c.options.Breaker; b != nil {
				_, err := retry.NewBreaker(*b)
				mustSay(t, err, c.says...)
			}
		})
	}
}

func TestTheLastValidValueOfEachOptionIsAccepted(t *testing.T) {
	for name, o := range map[string]retry.Options{
		"one attempt":                        {Strategy: retry.Limited(1, retry.UntilDeadline())},
		"no overload retries":                {Strategy: retry.Overload(0, retry.RetryOnce())},
		"Min and Max equal":                  {Strategy: retry.BestEffort(retry.BackoffOptions{Min: 1, Max: 1})},
		"Min as the default Max":             {Strategy: retry.BestEffort(retry.BackoffOptions{Min: 500 * time.Millisecond})},
		"a calculator":                       {Strategy: retry.BestEffort(retry.BackoffOptions{Calculator: calculator})},
		"the last mode":                      {DeadlineMode: retry.DeadlineCapDelay},
		"the smallest breaker":               {Breaker: &retry.BreakerOptions{Volume: 1, Percent: math.SmallestNonzeroFloat64, Window: 10, OpenTimeout: 1}},
		"a breaker that opens if all failed": {Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 100 })},
		"the defaults":                       {Breaker: retry.DefaultBreakerOptions()},
	} {
		t.Run(name, func(t *testing.T) {
			if o.Strategy == nil {
				o.Strategy = retry.RetryOnce()
			}
			if _, err := retry.New(o); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheDefaultsAreAsDocumented(t *testing.T) {
	b := retry.DefaultBreakerOptions()
	if b.Volume != 20 || b.Percent != 50 || b.Window != time.Minute || b.OpenTimeout != 5*time.Second {
		t.Errorf("the defaults of a breaker are %+v", b)
	}
	b.Volume = 1
	if retry.DefaultBreakerOptions().Volume != 20 {
		t.Error("two callers share one BreakerOptions")
	}
}

func TestAWrongOptionOfABudgetIsAnErrorThatNamesTheOptionAndItsRule(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		options *retry.BudgetOptions
		says    []string
	}{
		{"a ratio above 1", budget(func(o *retry.BudgetOptions) { o.Ratio = 1.1 }), []string{"retry: BudgetOptions.Ratio is 1.1", "from 0 to 1"}},
		{"a ratio below 0", budget(func(o *retry.BudgetOptions) { o.Ratio = -0.1 }), []string{"retry: BudgetOptions.Ratio is -0.1", "from 0 to 1"}},
		{"a ratio that is not a number", budget(func(o *retry.BudgetOptions) { o.Ratio = nan }), []string{"retry: BudgetOptions.Ratio is NaN", "from 0 to 1"}},
		{"a negative number a second", budget(func(o *retry.BudgetOptions) { o.PerSecond = -1 }), []string{"retry: BudgetOptions.PerSecond is -1", "not negative"}},
		{"not a number a second", budget(func(o *retry.BudgetOptions) { o.PerSecond = nan }), []string{"retry: BudgetOptions.PerSecond is NaN", "a number"}},
		{"infinitely many a second", budget(func(o *retry.BudgetOptions) { o.PerSecond = inf }), []string{"retry: BudgetOptions.PerSecond is +Inf", "a number"}},
		{"a burst below 1", budget(func(o *retry.BudgetOptions) { o.Burst = 0.5 }), []string{"retry: BudgetOptions.Burst is 0.5", "at least 1"}},
		{"a burst that is not a number", budget(func(o *retry.BudgetOptions) { o.Burst = nan }), []string{"retry: BudgetOptions.Burst is NaN", "a number"}},
		{"an infinite burst", budget(func(o *retry.BudgetOptions) { o.Burst = inf }), []string{"retry: BudgetOptions.Burst is +Inf", "a number"}},
		{"the zero budget", &retry.BudgetOptions{}, []string{"retry: BudgetOptions.Burst is 0", "at least 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := retry.NewBudget(*c.options)
			mustSay(t, err, c.says...)
		})
	}
	for name, o := range map[string]*retry.BudgetOptions{
		"a budget that is never refilled": {Burst: 1},
		"a retry for each success":        {Ratio: 1, Burst: 1},
		"the defaults":                    retry.DefaultBudgetOptions(),
	} {
		if _, err := retry.NewBudget(*o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

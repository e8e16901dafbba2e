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

// badStrategies are strategies that cannot work, with what an error must say: the field and the rule.
var badStrategies = []struct {
	name     string
	strategy retry.Strategy
	says     []string
}{
	{"a StrategyFunc that is nil", retry.StrategyFunc(nil), []string{"is a nil StrategyFunc"}},
	{"no attempts", retry.Limited{}, []string{"Limited.Attempts is 0", "at least 1"}},
	{"less than no attempts", retry.Limited{Attempts: -1}, []string{"Limited.Attempts is -1", "at least 1"}},
	{
		"a nil function within a limit",
		retry.Limited{Attempts: 2, Strategy: retry.StrategyFunc(nil)},
		[]string{"Limited.Strategy", "is a nil StrategyFunc"},
	},
	{
		"a wrong limit within a limit",
		retry.Limited{Attempts: 2, Strategy: retry.Limited{}},
		[]string{"Limited.Strategy", "Limited.Attempts is 0", "at least 1"},
	},
	{"overload around nothing", retry.Overload{Retries: 2}, []string{"Overload.Otherwise: it is nil", "must be a strategy"}},
	{
		"overload around a nil function",
		retry.Overload{Retries: 2, Otherwise: retry.StrategyFunc(nil)},
		[]string{"Overload.Otherwise: it is a nil StrategyFunc"},
	},
	{
		"less than no overload retries",
		retry.Overload{Retries: -1, Otherwise: retry.Once()},
		[]string{"Overload.Retries is -1", "not be negative"},
	},
	{
		"a wrong best effort in a limit in an overload",
		retry.Overload{Otherwise: retry.Limited{Attempts: 1, Strategy: retry.BestEffort{Min: -1}}},
		[]string{"Overload.Otherwise", "Limited.Strategy", "BestEffort.Min is -1ns"},
	},
	{"a least delay below zero", retry.BestEffort{Min: -1}, []string{"BestEffort.Min is -1ns", "not be negative"}},
	{"a most delay below zero", retry.BestEffort{Max: -1}, []string{"BestEffort.Max is -1ns", "not be negative"}},
	{
		"a least delay above the most",
		retry.BestEffort{Min: 3 * time.Millisecond, Max: 2 * time.Millisecond},
		[]string{"BestEffort.Min is 3ms", "more than its Max, 2ms"},
	},
	{"a least delay above the default most", retry.BestEffort{Min: time.Second}, []string{"BestEffort.Min is 1s", "more than its Max, 500ms"}},
	{
		"a most delay below the default least",
		retry.BestEffort{Max: time.Microsecond},
		[]string{"BestEffort.Min is 1ms", "more than its Max, 1µs"},
	},
	{"a calculator and a least", retry.BestEffort{Calculator: calculator, Min: 1}, []string{"BestEffort", "Calculator", "only one"}},
	{"a calculator and a most", retry.BestEffort{Calculator: calculator, Max: 1}, []string{"BestEffort", "Calculator", "only one"}},
}

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

func TestAStrategyThatCannotWorkIsAnErrorOfNew(t *testing.T) {
	for _, c := range badStrategies {
		t.Run(c.name, func(t *testing.T) {
			_, err := retry.New(retry.Options{Strategy: c.strategy})
			mustSay(t, err, append(c.says, "retry: Strategy")...)
		})
	}
	t.Run("none", func(t *testing.T) {
		_, err := retry.New(retry.Options{})
		mustSay(t, err, "retry: Strategy: it is nil", "must be a strategy")
	})
}

func TestAnOperationsStrategyThatCannotWorkIsAnErrorBeforeAnyAttempt(t *testing.T) {
	e := engine(t, retry.Options{Strategy: retry.Once()})
	for _, c := range badStrategies {
		t.Run(c.name, func(t *testing.T) {
			attempt, made := script()
			err := e.Do(context.Background(), retry.Operation{Strategy: c.strategy}, attempt)
			mustSay(t, err, append(c.says, "retry: Operation.Strategy")...)
			if *made != 0 {
				t.Errorf("%d attempts were made", *made)
			}
			if ofAttempts := new(retry.Error); errors.As(err, &ofAttempts) {
				t.Errorf("it is an error about attempts: %v", err)
			}
		})
	}
}

func budget(change func(*retry.BudgetOptions)) *retry.BudgetOptions {
	o := retry.DefaultBudget()
	change(o)
	return o
}

func breaker(change func(*retry.BreakerOptions)) *retry.BreakerOptions {
	o := retry.DefaultBreaker()
	change(o)
	return o
}

func TestABadOptionIsAnErrorThatNamesItAndItsRule(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		options retry.Options
		says    []string
	}{
		{"a mode that there is not", retry.Options{DeadlineMode: retry.DeadlineCapDelay + 1}, []string{"DeadlineMode is 2", "DeadlineGiveUp or DeadlineCapDelay"}},
		{"the last mode that there is not", retry.Options{DeadlineMode: math.MaxUint8}, []string{"DeadlineMode is 255", "DeadlineGiveUp or DeadlineCapDelay"}},

		{"a ratio above 1", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Ratio = 1.1 })}, []string{"Budget.Ratio is 1.1", "from 0 to 1"}},
		{"a ratio below 0", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Ratio = -0.1 })}, []string{"Budget.Ratio is -0.1", "from 0 to 1"}},
		{"a ratio that is no number", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Ratio = nan })}, []string{"Budget.Ratio is NaN", "from 0 to 1"}},
		{"less than none a second", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.PerSecond = -1 })}, []string{"Budget.PerSecond is -1", "not negative"}},
		{"no number a second", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.PerSecond = nan })}, []string{"Budget.PerSecond is NaN", "a number"}},
		{"endlessly many a second", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.PerSecond = inf })}, []string{"Budget.PerSecond is +Inf", "a number"}},
		{"a burst below 1", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Burst = 0.5 })}, []string{"Budget.Burst is 0.5", "at least 1"}},
		{"a burst that is no number", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Burst = nan })}, []string{"Budget.Burst is NaN", "a number"}},
		{"an endless burst", retry.Options{Budget: budget(func(o *retry.BudgetOptions) { o.Burst = inf })}, []string{"Budget.Burst is +Inf", "a number"}},
		{"the zero budget", retry.Options{Budget: &retry.BudgetOptions{}}, []string{"Budget.Burst is 0", "at least 1"}},

		{"no volume", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Volume = 0 })}, []string{"Breaker.Volume is 0", "at least 1"}},
		{"no percentage", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 0 })}, []string{"Breaker.Percent is 0", "above 0"}},
		{"a percentage below 0", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = -1 })}, []string{"Breaker.Percent is -1", "above 0"}},
		{"a percentage above 100", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 101 })}, []string{"Breaker.Percent is 101", "at most 100"}},
		{"a percentage that is no number", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = nan })}, []string{"Breaker.Percent is NaN", "at most 100"}},
		{"no window", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = 0 })}, []string{"Breaker.Window is 0s", "at least 10 ns"}},
		{"a window that cannot be divided", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = 9 })}, []string{"Breaker.Window is 9ns", "at least 10 ns"}},
		{"a window below zero", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Window = -1 })}, []string{"Breaker.Window is -1ns", "at least 10 ns"}},
		{"no sleep", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Sleep = 0 })}, []string{"Breaker.Sleep is 0s", "positive"}},
		{"a sleep below zero", retry.Options{Breaker: breaker(func(o *retry.BreakerOptions) { o.Sleep = -1 })}, []string{"Breaker.Sleep is -1ns", "positive"}},
		{"the zero breaker", retry.Options{Breaker: &retry.BreakerOptions{}}, []string{"Breaker.Volume is 0", "at least 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Strategy = retry.Once()
			e, err := retry.New(c.options)
			mustSay(t, err, c.says...)
			if e != nil {
				t.Error("there is an engine all the same")
			}
			if b := c.options.Breaker; b != nil {
				_, err := retry.NewBreaker(*b)
				mustSay(t, err, c.says...)
			}
		})
	}
}

func TestTheLastGoodValueOfEachOptionIsGood(t *testing.T) {
	for name, o := range map[string]retry.Options{
		"one attempt":                        {Strategy: retry.Limited{Attempts: 1}},
		"no overload retries":                {Strategy: retry.Overload{Otherwise: retry.Once()}},
		"least and most delay equal":         {Strategy: retry.BestEffort{Min: 1, Max: 1}},
		"a least delay as the default most":  {Strategy: retry.BestEffort{Min: 500 * time.Millisecond}},
		"a calculator":                       {Strategy: retry.BestEffort{Calculator: calculator}},
		"a pointer to a strategy":            {Strategy: &retry.BestEffort{}},
		"the last mode":                      {DeadlineMode: retry.DeadlineCapDelay},
		"a budget of its burst":              {Budget: &retry.BudgetOptions{Burst: 1}},
		"a retry for each success":           {Budget: &retry.BudgetOptions{Ratio: 1, Burst: 1}},
		"the least breaker":                  {Breaker: &retry.BreakerOptions{Volume: 1, Percent: math.SmallestNonzeroFloat64, Window: 10, Sleep: 1}},
		"a breaker that opens if all failed": {Breaker: breaker(func(o *retry.BreakerOptions) { o.Percent = 100 })},
		"the defaults":                       {Budget: retry.DefaultBudget(), Breaker: retry.DefaultBreaker()},
	} {
		t.Run(name, func(t *testing.T) {
			if o.Strategy == nil {
				o.Strategy = retry.Once()
			}
			if _, err := retry.New(o); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheDefaultsAreTheOnesThatAreSaid(t *testing.T) {
	b := retry.DefaultBreaker()
	if b.Volume != 20 || b.Percent != 50 || b.Window != time.Minute || b.Sleep != 5*time.Second {
		t.Errorf("the breaker's: %+v", b)
	}
	b.Volume = 1
	if retry.DefaultBreaker().Volume != 20 {
		t.Error("two callers share one value of the defaults")
	}
}

package prove

import (
	"context"
	"fmt"
	"strings"
)

// Strategy is a retry strategy. All except [RetryableWrites] are loops of an application around a client that does
// not retry.
type Strategy struct {
	Name  string
	Title string
	// RetryWrites is the client's option retryWrites.
	RetryWrites bool
	// twoSteps means that an operation has two commands.
	twoSteps bool
	do       func(context.Context, *doing) error
}

// learns reports whether the strategy can know, after a transient fault, whether the operation was applied: it can repeat
// the operation until the server answers.
func (s Strategy) learns() bool { return s.RetryWrites || s.twoSteps }

// The strategies' names.
const (
	NoRetry         = "no-retry"
	FiveBlind       = "five-blind"
	OneRetry        = "one-retry"
	TwoStep         = "two-step"
	RetryableWrites = "retryable-writes"
)

var strategies = []Strategy{
	{Name: NoRetry, Title: "no retry", do: once},
	{Name: FiveBlind, Title: "five blind retries", do: fiveBlind},
	{Name: OneRetry, Title: "one retry", do: oneRetry},
	{Name: TwoStep, Title: "two-step", twoSteps: true, do: twoSteps},
	{Name: RetryableWrites, Title: "retryable writes", RetryWrites: true, do: once},
}

// Strategies returns all strategies, in the order of the resilience article and with retryable writes last.
func Strategies() []Strategy { return append([]Strategy(nil), strategies...) }

// StrategiesNamed returns the strategies with these names, or all if names is empty.
func StrategiesNamed(names []string) ([]Strategy, error) {
	return named("strategy", Strategies(), names, func(s Strategy) string { return s.Name })
}

// named returns the elements of a list with these names, in the list's order. An unknown name is an error that lists
// the known names.
func named[T any](what string, all []T, names []string, nameOf func(T) string) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	var known []string
	var picked []T
	for _, t := range all {
		known = append(known, nameOf(t))
		if wanted[nameOf(t)] {
			picked = append(picked, t)
			delete(wanted, nameOf(t))
		}
	}
	for _, n := range names {
		if wanted[n] {
			return nil, fmt.Errorf("unknown %s %q; known are: %s", what, n, strings.Join(known, ", "))
		}
	}
	return picked, nil
}

// once calls the client once.
func once(ctx context.Context, d *doing) error { return d.increment(ctx) }

// fiveBlind retries after every error, at most five times, as much production code does.
func fiveBlind(ctx context.Context, d *doing) error {
	err := d.increment(ctx)
	for retries := 0; err != nil && retries < 5 && ctx.Err() == nil; retries++ {
		err = d.increment(ctx)
	}
	return err
}

// oneRetry retries once after a network error or an overload error.
func oneRetry(ctx context.Context, d *doing) error { return d.retried(ctx, d.increment) }

// twoSteps adds a token of the operation to the document. Then it applies the operation to the document with the
// token, and removes the token in the same update. Each step may be repeated: if the second step does not match, an
// earlier attempt of it was applied.
func twoSteps(ctx context.Context, d *doing) error {
	if err := d.retried(ctx, d.announce); err != nil {
		return err
	}
	return d.retried(ctx, d.settle)
}

// retried runs a step, and runs it once more after a network error or an overload error.
func (d *doing) retried(ctx context.Context, step func(context.Context) error) error {
	err := step(ctx)
	if err == nil {
		return nil
	}
	if kind := d.client.Judge(err).Kind; kind == Network || kind == Overload {
		return step(ctx)
	}
	return err
}

// StrategyNames returns the names of all strategies.
func StrategyNames() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.Name)
	}
	return names
}

package prove

import (
	"context"
	"fmt"
	"strings"
)

// Strategy is a way of retrying. All but [RetryableWrites] are loops of an application around a client that does not
// retry.
type Strategy struct {
	Name  string
	Title string
	// RetryWrites is the client's option.
	RetryWrites bool
	// twoSteps: an operation is two commands.
	twoSteps bool
	do       func(context.Context, *doing) error
}

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

// Strategies returns all strategies in the order of the article, retryable writes last.
func Strategies() []Strategy { return append([]Strategy(nil), strategies...) }

// StrategiesNamed returns the strategies with these names, all if there are none.
func StrategiesNamed(names []string) ([]Strategy, error) {
	return named("strategy", Strategies(), names, func(s Strategy) string { return s.Name })
}

// named picks from a list by name, keeping the list's order; an unknown name is an error that lists the known ones.
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

// once leaves everything to the client.
func once(ctx context.Context, d *doing) error { return d.increment(ctx) }

// fiveBlind retries whatever the error was, as much production code does.
func fiveBlind(ctx context.Context, d *doing) error {
	err := d.increment(ctx)
	for retries := 0; err != nil && retries < 5 && ctx.Err() == nil; retries++ {
		err = d.increment(ctx)
	}
	return err
}

// oneRetry retries once what looks like a network error or says that the server is overloaded.
func oneRetry(ctx context.Context, d *doing) error { return d.retried(ctx, d.increment) }

// twoSteps announces the operation by a token and then applies it to the document that still has the token; each step
// may be repeated. That the second step finds no token means that an attempt of it was applied.
func twoSteps(ctx context.Context, d *doing) error {
	if err := d.retried(ctx, d.announce); err != nil {
		return err
	}
	return d.retried(ctx, d.settle)
}

// retried runs a step, and once more if an application's rule of one retry says so.
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

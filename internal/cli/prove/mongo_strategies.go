package prove

import "context"

// The strategies' names.
const (
	NoRetry         = "no-retry"
	FiveBlind       = "five-blind"
	OneRetry        = "one-retry"
	TwoStep         = "two-step"
	Once            = "once"
	RetryableWrites = "retryable-writes"
)

// mongoStrategies are those of the resilience article in its order, then those of this module. Retryable writes, the servers' own, are last.
var mongoStrategies = []Strategy{
	{Name: NoRetry, Title: "no retry", do: single},
	{Name: FiveBlind, Title: "five blind retries", do: fiveBlind},
	{Name: OneRetry, Title: "one retry", do: oneRetry},
	{Name: TwoStep, Title: "two-step", twoSteps: true, do: twoSteps, sweep: sweepPending},
	{Name: BestEffort, Title: "best effort", do: bestEffort},
	{Name: Once, Title: "exactly once", twoSteps: true, do: exactlyOnce, sweep: sweepOnce},
	{Name: RetryableWrites, Title: "retryable writes", RetryWrites: true, do: single},
}

// single calls the client once.
func single(ctx context.Context, d *doing) error { return d.increment(ctx) }

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

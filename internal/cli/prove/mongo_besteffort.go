package prove

import (
	"context"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// bestEffort lets the retry engine decide, with its strategy of that name. An increment is not idempotent, and the engine knows.
func bestEffort(ctx context.Context, d *doing) error {
	return d.withEngine(ctx, retry.NotIdempotent)
}

// withEngine runs the increment with the retry engine.
func (d *doing) withEngine(ctx context.Context, idempotency retry.Idempotency) error {
	engine, err := retry.New(retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{})})
	if err != nil {
		return err
	}
	return engine.Do(ctx, retry.Operation{Name: "increment", Idempotency: idempotency}, func(ctx context.Context, _ int) retry.Failure {
		err := d.increment(ctx)
		if err == nil {
			return retry.Failure{}
		}
		return failureOf(err, d.client.Judge(err))
	})
}

// failureOf tells the engine as much about an error as an application knows: how far the command came, and why it failed. Server selection
// has waited already, so its error has no reason for a retry.
func failureOf(err error, t Trouble) retry.Failure {
	f := retry.Failure{Err: err, Stage: retry.StageAnswered}
	switch t.Kind {
	case Refused:
	case Overload:
		f.Reason = retry.ReasonOverloaded
	case NoServer:
		f.Stage = retry.StageBeforeSending
	case Interrupted:
		f.Stage = retry.StageInFlight
	case Network:
		switch {
		case answered(err):
			f.Reason, f.Unsettled = mongoreason.NotWritablePrimary, t.Claim == Unknown
		case t.Claim == NotApplied:
			f.Stage, f.Reason = retry.StageBeforeSending, retry.ReasonConnectionFailed
		default:
			f.Stage, f.Reason = retry.StageInFlight, retry.ReasonNetworkError
		}
	}
	return f
}

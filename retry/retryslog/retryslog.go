// Package retryslog logs the retries and the refusals of a retry engine with log/slog.
package retryslog

import (
	"context"
	"log/slog"

	"github.com/holdfast-db/holdfast/retry"
)

// New returns an observer that writes to logger, or to slog.Default() if logger is nil:
//
//   - each retry, at level debug: "retrying";
//   - each operation that failed, once, at level info: "not retried". If the caller cancelled it, the level is debug.
//
// A success is not logged. The attributes are operation (its name), attempt (its number; the first is 1), reason, stage, stopReason,
// delay, elapsed (since the operation began), endpoint and error; operation and endpoint are left out where they are empty. Of a
// retry the error is the attempt's, of a failed operation it is the operation's, with its history.
func New(logger *slog.Logger) retry.Observer { return observer{logger} }

type observer struct{ logger *slog.Logger }

// Observe implements [retry.Observer].
func (o observer) Observe(ctx context.Context, e retry.Event) {
	switch {
	case e.Kind == retry.EventDecided && e.StopReason == retry.NotStopped:
		o.log(ctx, slog.LevelDebug, "retrying", &e, e.Failure.Err)
	case e.Kind == retry.EventEnded && e.StopReason == retry.StopCancelled:
		o.log(ctx, slog.LevelDebug, "not retried", &e, e.Err)
	case e.Kind == retry.EventEnded && e.Err != nil:
		o.log(ctx, slog.LevelInfo, "not retried", &e, e.Err)
	}
}

func (o observer) log(ctx context.Context, level slog.Level, message string, e *retry.Event, err error) {
	logger := o.logger
	if logger == nil {
		logger = slog.Default()
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 9)
	if e.Name != "" {
		attrs = append(attrs, slog.String("operation", e.Name))
	}
	attrs = append(attrs, slog.Int("attempt", e.Attempt+1), slog.String("reason", e.Reason.String()), slog.String("stage", e.Stage.String()),
		slog.String("stopReason", e.StopReason.String()), slog.Duration("delay", e.Delay), slog.Duration("elapsed", e.Elapsed))
	if e.Endpoint != "" {
		attrs = append(attrs, slog.String("endpoint", e.Endpoint))
	}
	attrs = append(attrs, slog.Any("error", err))
	logger.LogAttrs(ctx, level, message, attrs...)
}

package retry

import (
	"context"
	"time"
)

// Request describes one operation to the engine and to its strategy.
type Request struct {
	// Strategy decides about retries. Nil means the engine's.
	Strategy Strategy
	// Effect is what doing the whole operation twice would mean to the caller. An attempt's own effect may be better:
	// see [Failure].
	Effect Effect
	// Data is the caller's, for a strategy to look at.
	Data any
	// Retries is how often the operation was tried again so far. The engine sets it.
	Retries int
	// Reasons are those of the attempts before the failure that is decided about. The engine sets them.
	Reasons Reasons
}

// Action is a strategy's answer. The zero Action declines.
type Action struct {
	retry bool
	delay time.Duration
	why   Why
}

// After is the action to try again after delay, at once if it is not positive.
func After(delay time.Duration) Action { return Action{retry: true, delay: max(delay, 0)} }

// Decline is the action not to try again, and why.
func Decline(why Why) Action { return Action{why: why} }

// Strategy decides whether and when an operation is tried again (RFC 0049). It is asked after each failure except those
// that are always retried or never, must be safe for concurrent use, and may block: the caller's goroutine waits. An
// error it returns ends the operation with the operation's own error.
type Strategy interface {
	RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error)
}

// StrategyFunc is a function as a [Strategy].
type StrategyFunc func(ctx context.Context, request Request, failure Failure) (Action, error)

// RetryAfter calls f.
func (f StrategyFunc) RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error) {
	return f(ctx, request, failure)
}

// Limited tries again at once, at most Retries times, what is safe to send twice.
type Limited struct {
	// Retries is how often at most; negative means as long as the deadline allows.
	Retries int
}

// RetryAfter implements [Strategy].
func (l Limited) RetryAfter(_ context.Context, request Request, failure Failure) (Action, error) {
	switch {
	case !failure.Safe():
		return Decline(NotIdempotentOp), nil
	case l.Retries >= 0 && request.Retries >= l.Retries:
		return Decline(AttemptsUsed), nil
	default:
		return After(0), nil
	}
}

// Once tries again once, as the MongoDB specifications say for a client without an operation timeout.
func Once() Strategy { return Limited{Retries: 1} }

// UntilDeadline tries again for as long as the deadline allows. Use it only where something else paces the attempts.
func UntilDeadline() Strategy { return Limited{Retries: -1} }

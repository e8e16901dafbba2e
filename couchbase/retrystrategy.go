package couchbase

import (
	"context"
	"math/rand/v2"
	"time"
)

// RetryStrategy decides whether an operation is tried again, and after which delay (RFC 0049). It is not asked about reasons that
// are always retried. If it asks to repeat an attempt that may have been applied, of an operation that is not idempotent, the client
// refuses. It must be safe for concurrent use. It may block: only its operation waits.
type RetryStrategy interface {
	RetryAfter(req RetryRequest, reason RetryReason) RetryAction
}

// RetryRequest is a strategy's view of an operation. It is valid until RetryAfter returns. See [RetryRequestDetails] for more.
type RetryRequest interface {
	// RetryAttempts returns the number of retries so far.
	RetryAttempts() uint32
	// Identifier returns the id of the operation. It is the same for all its attempts.
	Identifier() string
	// Idempotent reports whether the operation may be applied twice without harm.
	Idempotent() bool
	// RetryReasons returns the reasons of the earlier failures, each once.
	RetryReasons() []RetryReason
}

// RetryRequestDetails is implemented by every [RetryRequest] that the client gives to a strategy. gocb has nothing like it.
type RetryRequestDetails interface {
	RetryRequest
	// Context returns the context of the operation's options, or one without an end if there is none.
	Context() context.Context
	// UserData returns the value that [retry.WithData] attached to that context, or nil.
	UserData() any
	// Operation returns the kind of the operation, for example "upsert".
	Operation() string
	// Err returns the error of the attempt that failed.
	Err() error
}

// RetryAction is a strategy's decision: to try again after the duration. Zero, and an action that is nil, mean not to try again.
type RetryAction interface {
	Duration() time.Duration
}

// NoRetryRetryAction is the action not to try again.
type NoRetryRetryAction struct{}

var _ RetryAction = (*NoRetryRetryAction)(nil)

// Duration returns 0.
func (ra *NoRetryRetryAction) Duration() time.Duration { return 0 }

// WithDurationRetryAction is the action to try again after a duration.
type WithDurationRetryAction struct {
	WithDuration time.Duration
}

var _ RetryAction = (*WithDurationRetryAction)(nil)

// Duration returns the duration.
func (ra *WithDurationRetryAction) Duration() time.Duration { return ra.WithDuration }

// FailedRetryAction is the action of a strategy that failed itself: the operation is not tried again, and errors.Is and errors.As
// find Err in its error, beside the error of the attempt. gocb has nothing like it.
type FailedRetryAction struct {
	Err error
}

var _ RetryAction = (*FailedRetryAction)(nil)

// Duration returns 0.
func (ra *FailedRetryAction) Duration() time.Duration { return 0 }

// BackoffCalculator returns the delay after so many retries.
type BackoffCalculator func(retryAttempts uint32) time.Duration

// BestEffortRetryStrategy retries until the timeout whatever may be retried: it is the strategy of a cluster that sets none.
type BestEffortRetryStrategy struct {
	BackoffCalculator BackoffCalculator
}

var _ RetryStrategy = (*BestEffortRetryStrategy)(nil)

// NewBestEffortRetryStrategy returns a strategy with these delays. Nil means random ones that grow: after n retries, between 1 ms
// and the smaller of 500 ms and 2^n ms.
func NewBestEffortRetryStrategy(calculator BackoffCalculator) *BestEffortRetryStrategy {
	if calculator == nil {
		calculator = growingBackoff
	}
	return &BestEffortRetryStrategy{BackoffCalculator: calculator}
}

// RetryAfter returns the action to retry if the request is idempotent or if the reason allows other requests too.
func (rs *BestEffortRetryStrategy) RetryAfter(req RetryRequest, reason RetryReason) RetryAction {
	if !req.Idempotent() && !reason.AllowsNonIdempotentRetry() {
		return &NoRetryRetryAction{}
	}
	calculator := rs.BackoffCalculator
	if calculator == nil {
		calculator = growingBackoff
	}
	return &WithDurationRetryAction{WithDuration: calculator(req.RetryAttempts())}
}

// growingBackoff is the exponential backoff of RFC 0049 between 1 and 500 ms, with jitter.
func growingBackoff(retries uint32) time.Duration {
	const least, most = time.Millisecond, 500 * time.Millisecond
	limit := most
	if retries < 9 {
		limit = min(most, least<<retries)
	}
	return least + rand.N(limit-least+1)
}

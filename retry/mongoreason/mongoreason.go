// Package mongoreason has the reasons for which only a MongoDB operation fails. They come from the MongoDB driver
// specifications for retryable reads and retryable writes. None of them is always retried.
//
// A MongoDB client uses general reasons of package retry too: [retry.ReasonNetworkError], [retry.ReasonConnectionFailed] and
// [retry.ReasonOverloaded].
package mongoreason

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
)

// The reasons of the specifications that are about MongoDB alone.
var (
	// PoolCleared: the server's connection pool was cleared between selection and checkout.
	PoolCleared = retry.NewReason("POOL_CLEARED", retry.FlagAllowsNonIdempotent)
	// NotWritablePrimary: the server answered that it is not, or no longer, the primary.
	NotWritablePrimary = retry.NewReason("NOT_WRITABLE_PRIMARY", retry.FlagAllowsNonIdempotent)
	// NodeRecovering: the server answered that it is shutting down, stepping down or recovering.
	NodeRecovering = retry.NewReason("NODE_RECOVERING", retry.FlagAllowsNonIdempotent)
	// RetryableCode: the server answered with another code that the retryable reads specification lists.
	RetryableCode = retry.NewReason("RETRYABLE_CODE")
	// RetryableWriteLabel: the server labelled its answer RetryableWriteError.
	RetryableWriteLabel = retry.NewReason("RETRYABLE_WRITE_ERROR")
)

var all = [...]retry.Reason{
	retry.ReasonNetworkError, retry.ReasonConnectionFailed, PoolCleared, NotWritablePrimary, NodeRecovering, RetryableCode,
	RetryableWriteLabel, retry.ReasonOverloaded,
}

// All returns every reason of the MongoDB specifications, with the general ones.
func All() []retry.Reason { return slices.Clone(all[:]) }

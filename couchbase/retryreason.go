package couchbase

import (
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// RetryReason is why an attempt failed (RFC 0049).
type RetryReason interface {
	// AllowsNonIdempotentRetry reports whether operations that are not idempotent may be retried for this reason.
	AllowsNonIdempotentRetry() bool
	// AlwaysRetry reports whether the client retries without asking the strategy.
	AlwaysRetry() bool
	// Description returns the reason's name in the RFC.
	Description() string
}

// retryReason is a reason of the engine with the names of gocb. It can be compared.
type retryReason struct{ reason retry.Reason }

var _ RetryReason = retryReason{}

func (r retryReason) AllowsNonIdempotentRetry() bool {
	return r.reason.AllowsNonIdempotentRetry() || r.reason.AlwaysRetry()
}
func (r retryReason) AlwaysRetry() bool   { return r.reason.AlwaysRetry() }
func (r retryReason) Description() string { return r.String() }

// String returns the reason's name in the RFC.
func (r retryReason) String() string {
	if r.reason == retry.ReasonUnknown {
		return "UNKNOWN"
	}
	return r.reason.String()
}

// MarshalText returns the reason's name, so that it is a string in JSON.
func (r retryReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// The reasons of RFC 0049 with the names of gocb. They can be compared with ==.
var (
	// UnknownRetryReason is the reason of anything unexpected. It is never retried.
	UnknownRetryReason = RetryReason(retryReason{retry.ReasonUnknown})
	// SocketNotAvailableRetryReason: there is no usable connection to the node.
	SocketNotAvailableRetryReason = RetryReason(retryReason{couchbasereason.SocketNotAvailable})
	// ServiceNotAvailableRetryReason: no node has the service.
	ServiceNotAvailableRetryReason = RetryReason(retryReason{couchbasereason.ServiceNotAvailable})
	// NodeNotAvailableRetryReason: the node does not exist, or no longer.
	NodeNotAvailableRetryReason = RetryReason(retryReason{couchbasereason.NodeNotAvailable})
	// KVNotMyVBucketRetryReason: the node answered that it does not own the key's vbucket.
	KVNotMyVBucketRetryReason = RetryReason(retryReason{couchbasereason.KVNotMyVBucket})
	// KVCollectionOutdatedRetryReason: the node does not know the collection's id.
	KVCollectionOutdatedRetryReason = RetryReason(retryReason{couchbasereason.KVCollectionOutdated})
	// KVErrMapRetryReason: the server's error map says that the status is temporary.
	KVErrMapRetryReason = RetryReason(retryReason{couchbasereason.KVErrorMapRetryIndicated})
	// KVLockedRetryReason: the document is locked.
	KVLockedRetryReason = RetryReason(retryReason{couchbasereason.KVLocked})
	// KVTemporaryFailureRetryReason: the node cannot serve the request at the moment.
	KVTemporaryFailureRetryReason = RetryReason(retryReason{couchbasereason.KVTemporaryFailure})
	// KVSyncWriteInProgressRetryReason: a durable write of the document is under way.
	KVSyncWriteInProgressRetryReason = RetryReason(retryReason{couchbasereason.KVSyncWriteInProgress})
	// KVSyncWriteRecommitInProgressRetryReason: a durable write of the document is being committed again.
	KVSyncWriteRecommitInProgressRetryReason = RetryReason(retryReason{couchbasereason.KVSyncWriteReCommitInProgress})
	// ServiceResponseCodeIndicatedRetryReason: the answer of an HTTP service means that the cause is temporary.
	ServiceResponseCodeIndicatedRetryReason = RetryReason(retryReason{retry.ReasonServiceResponseCodeIndicated})
	// SocketCloseInFlightRetryReason: the connection was lost after the request was sent on it.
	SocketCloseInFlightRetryReason = RetryReason(retryReason{couchbasereason.SocketClosedInFlight})
	// CircuitBreakerOpenRetryReason: the breaker of the node is open.
	CircuitBreakerOpenRetryReason = RetryReason(retryReason{retry.ReasonCircuitBreakerOpen})
	// QueryIndexNotFoundRetryReason: the query service does not see the index yet.
	QueryIndexNotFoundRetryReason = RetryReason(retryReason{couchbasereason.QueryIndexNotFound})
	// QueryPreparedStatementFailureRetryReason: the query service no longer knows the prepared statement.
	QueryPreparedStatementFailureRetryReason = RetryReason(retryReason{couchbasereason.QueryPreparedStatementFailure})
	// AnalyticsTemporaryFailureRetryReason: the analytics service cannot serve the request at the moment.
	AnalyticsTemporaryFailureRetryReason = RetryReason(retryReason{couchbasereason.AnalyticsTemporaryFailure})
	// SearchTooManyRequestsRetryReason: the search service has too many requests.
	SearchTooManyRequestsRetryReason = RetryReason(retryReason{couchbasereason.SearchTooManyRequests})
	// ViewsTemporaryFailureRetryReason: the views service cannot serve the request at the moment. gocb has no name for it.
	ViewsTemporaryFailureRetryReason = RetryReason(retryReason{couchbasereason.ViewsTemporaryFailure})
	// ViewsNoActivePartitionRetryReason: the node has no active partition of the view. gocb has no name for it.
	ViewsNoActivePartitionRetryReason = RetryReason(retryReason{couchbasereason.ViewsNoActivePartition})
	// QueryErrorRetryable is gocb's own name for an error of the query service that says "retry". The RFC's reason for it is
	// [ServiceResponseCodeIndicatedRetryReason], and the two are equal here.
	QueryErrorRetryable = ServiceResponseCodeIndicatedRetryReason
	// NotReadyRetryReason: the bucket has no cluster map yet, because it is being opened or does not exist.
	NotReadyRetryReason = RetryReason(retryReason{couchbasereason.BucketOpening})
	// KVConfigOnlyRetryReason: the node has cluster maps only, and no documents. gocb has no name for it.
	KVConfigOnlyRetryReason = RetryReason(retryReason{couchbasereason.KVConfigOnly})
	// NodeConnectingRetryReason: the first connection to a node that a new cluster map has brought is being made. gocb has no name for
	// it.
	NodeConnectingRetryReason = RetryReason(retryReason{couchbasereason.NodeConnecting})
)

// Package couchbasereason has the reasons for which only a Couchbase operation fails, with the names and flags of Couchbase's
// RFC 0049 (SDK retry handling).
//
// Three reasons of the RFC serve any program and stand in package retry: [retry.ReasonUnknown],
// [retry.ReasonServiceResponseCodeIndicated] and [retry.ReasonCircuitBreakerOpen].
package couchbasereason

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
)

// The reasons of RFC 0049 that are about Couchbase alone.
var (
	// SocketNotAvailable: there is no usable connection to the node.
	SocketNotAvailable = retry.NewReason("SOCKET_NOT_AVAILABLE", retry.FlagAllowsNonIdempotent)
	// ServiceNotAvailable: no node has the service.
	ServiceNotAvailable = retry.NewReason("SERVICE_NOT_AVAILABLE", retry.FlagAllowsNonIdempotent)
	// NodeNotAvailable: the node does not exist, or no longer.
	NodeNotAvailable = retry.NewReason("NODE_NOT_AVAILABLE", retry.FlagAllowsNonIdempotent)
	// KVNotMyVBucket: the node answered that it does not own the key's vbucket.
	KVNotMyVBucket = retry.NewReason("KV_NOT_MY_VBUCKET", retry.FlagAlways)
	// KVCollectionOutdated: the node does not, or no longer, know the collection's id.
	KVCollectionOutdated = retry.NewReason("KV_COLLECTION_OUTDATED", retry.FlagAlways)
	// KVErrorMapRetryIndicated: the client leaves the status to the server's error map, which says that it is temporary.
	KVErrorMapRetryIndicated = retry.NewReason("KV_ERROR_MAP_RETRY_INDICATED", retry.FlagAllowsNonIdempotent)
	// KVLocked: the document is locked.
	KVLocked = retry.NewReason("KV_LOCKED", retry.FlagAllowsNonIdempotent)
	// KVTemporaryFailure: the node answered that it cannot serve the request at the moment.
	KVTemporaryFailure = retry.NewReason("KV_TEMPORARY_FAILURE", retry.FlagAllowsNonIdempotent)
	// KVSyncWriteInProgress: a durable write of the document is under way.
	KVSyncWriteInProgress = retry.NewReason("KV_SYNC_WRITE_IN_PROGRESS", retry.FlagAllowsNonIdempotent)
	// KVSyncWriteReCommitInProgress: a durable write of the document is being committed again after a failover.
	KVSyncWriteReCommitInProgress = retry.NewReason("KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", retry.FlagAllowsNonIdempotent)
	// SocketClosedInFlight: the connection was lost after the request was sent on it.
	SocketClosedInFlight = retry.NewReason("SOCKET_CLOSED_WHILE_IN_FLIGHT")
	// QueryPreparedStatementFailure: the query service no longer knows the prepared statement.
	QueryPreparedStatementFailure = retry.NewReason("QUERY_PREPARED_STATEMENT_FAILURE", retry.FlagAllowsNonIdempotent)
	// QueryIndexNotFound: the query service does not see the index yet.
	QueryIndexNotFound = retry.NewReason("QUERY_INDEX_NOT_FOUND", retry.FlagAllowsNonIdempotent)
	// AnalyticsTemporaryFailure: the analytics service answered that it cannot serve the request at the moment.
	AnalyticsTemporaryFailure = retry.NewReason("ANALYTICS_TEMPORARY_FAILURE", retry.FlagAllowsNonIdempotent)
	// SearchTooManyRequests: the search service has too many requests.
	SearchTooManyRequests = retry.NewReason("SEARCH_TOO_MANY_REQUESTS", retry.FlagAllowsNonIdempotent)
	// ViewsTemporaryFailure: the views service answered that it cannot serve the request at the moment.
	ViewsTemporaryFailure = retry.NewReason("VIEWS_TEMPORARY_FAILURE", retry.FlagAllowsNonIdempotent)
	// ViewsNoActivePartition: the node has no active partition of the view.
	ViewsNoActivePartition = retry.NewReason("VIEWS_NO_ACTIVE_PARTITION", retry.FlagAlways)
)

// The reasons that RFC 0049 does not have. They are retried whatever the strategy says.
var (
	// KVConfigOnly: the node answered that it has cluster maps only, and no documents.
	KVConfigOnly = retry.NewReason("KV_CONFIG_ONLY", retry.FlagAlways)
	// BucketOpening: the bucket has no cluster map yet, because it is being opened or does not exist.
	BucketOpening = retry.NewReason("BUCKET_OPEN_IN_PROGRESS", retry.FlagAlways)
	// NodeConnecting: a new cluster map has brought the node, and the first connection to it is being made.
	NodeConnecting = retry.NewReason("NODE_CONNECT_IN_PROGRESS", retry.FlagAlways)
)

var all = [...]retry.Reason{
	retry.ReasonUnknown, SocketNotAvailable, ServiceNotAvailable, NodeNotAvailable, KVNotMyVBucket, KVCollectionOutdated,
	KVErrorMapRetryIndicated, KVLocked, KVTemporaryFailure, KVSyncWriteInProgress, KVSyncWriteReCommitInProgress,
	retry.ReasonServiceResponseCodeIndicated, SocketClosedInFlight, retry.ReasonCircuitBreakerOpen, QueryPreparedStatementFailure,
	QueryIndexNotFound, AnalyticsTemporaryFailure, SearchTooManyRequests, ViewsTemporaryFailure, ViewsNoActivePartition,
}

// All returns every reason of RFC 0049 in its order, with the general ones.
func All() []retry.Reason { return slices.Clone(all[:]) }

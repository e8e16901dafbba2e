package retry

// The reasons of RFC 0049, with its names and flags. Those that are not about Couchbase's protocols serve any program:
// SocketNotAvailable, ServiceNotAvailable, NodeNotAvailable, ServiceResponseCodeIndicated, SocketClosedInFlight and
// CircuitBreakerOpen.
var (
	// SocketNotAvailable: there is no usable connection to the node.
	SocketNotAvailable = NewReason("SOCKET_NOT_AVAILABLE", AllowsNonIdempotent)
	// ServiceNotAvailable: no node has the service.
	ServiceNotAvailable = NewReason("SERVICE_NOT_AVAILABLE", AllowsNonIdempotent)
	// NodeNotAvailable: the node is not, or no longer, there.
	NodeNotAvailable = NewReason("NODE_NOT_AVAILABLE", AllowsNonIdempotent)
	// KVNotMyVBucket: the node answered that it does not own the key's vbucket.
	KVNotMyVBucket = NewReason("KV_NOT_MY_VBUCKET", Always)
	// KVCollectionOutdated: the node does not know the collection's id, or not any more.
	KVCollectionOutdated = NewReason("KV_COLLECTION_OUTDATED", Always)
	// KVErrorMapRetryIndicated: the status is unknown to the client and the server's error map says that it is temporary.
	KVErrorMapRetryIndicated = NewReason("KV_ERROR_MAP_RETRY_INDICATED", AllowsNonIdempotent)
	// KVLocked: the document is locked.
	KVLocked = NewReason("KV_LOCKED", AllowsNonIdempotent)
	// KVTemporaryFailure: the node answered that it cannot at the moment.
	KVTemporaryFailure = NewReason("KV_TEMPORARY_FAILURE", AllowsNonIdempotent)
	// KVSyncWriteInProgress: a durable write of the document is under way.
	KVSyncWriteInProgress = NewReason("KV_SYNC_WRITE_IN_PROGRESS", AllowsNonIdempotent)
	// KVSyncWriteReCommitInProgress: a durable write of the document is being committed again after a failover.
	KVSyncWriteReCommitInProgress = NewReason("KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", AllowsNonIdempotent)
	// ServiceResponseCodeIndicated: an HTTP answer that is known to be temporary, and that nothing was done.
	ServiceResponseCodeIndicated = NewReason("SERVICE_RESPONSE_CODE_INDICATED", AllowsNonIdempotent)
	// SocketClosedInFlight: the connection was lost after the request was sent on it.
	SocketClosedInFlight = NewReason("SOCKET_CLOSED_WHILE_IN_FLIGHT")
	// CircuitBreakerOpen: the breaker let nothing through. See [Breaker].
	CircuitBreakerOpen = NewReason("CIRCUIT_BREAKER_OPEN", AllowsNonIdempotent)
	// QueryPreparedStatementFailure: the query service does not know the prepared statement any more.
	QueryPreparedStatementFailure = NewReason("QUERY_PREPARED_STATEMENT_FAILURE", AllowsNonIdempotent)
	// QueryIndexNotFound: the query service does not see the index yet.
	QueryIndexNotFound = NewReason("QUERY_INDEX_NOT_FOUND", AllowsNonIdempotent)
	// AnalyticsTemporaryFailure: the analytics service answered that it cannot at the moment.
	AnalyticsTemporaryFailure = NewReason("ANALYTICS_TEMPORARY_FAILURE", AllowsNonIdempotent)
	// SearchTooManyRequests: the search service has too much to do.
	SearchTooManyRequests = NewReason("SEARCH_TOO_MANY_REQUESTS", AllowsNonIdempotent)
	// ViewsTemporaryFailure: the views service answered that it cannot at the moment.
	ViewsTemporaryFailure = NewReason("VIEWS_TEMPORARY_FAILURE", AllowsNonIdempotent)
	// ViewsNoActivePartition: the node has no active partition of the view.
	ViewsNoActivePartition = NewReason("VIEWS_NO_ACTIVE_PARTITION", Always)
)

var rfc0049Reasons = [...]Reason{
	UnknownReason, SocketNotAvailable, ServiceNotAvailable, NodeNotAvailable, KVNotMyVBucket, KVCollectionOutdated,
	KVErrorMapRetryIndicated, KVLocked, KVTemporaryFailure, KVSyncWriteInProgress, KVSyncWriteReCommitInProgress,
	ServiceResponseCodeIndicated, SocketClosedInFlight, CircuitBreakerOpen, QueryPreparedStatementFailure,
	QueryIndexNotFound, AnalyticsTemporaryFailure, SearchTooManyRequests, ViewsTemporaryFailure, ViewsNoActivePartition,
}

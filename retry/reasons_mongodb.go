package retry

// The reasons that MongoDB's rules know. None is always retried.
var (
	// NetworkError: the connection broke, or answered too late, after bytes were sent on it.
	NetworkError = NewReason("NETWORK_ERROR")
	// ConnectionFailed: no connection could be made, or its handshake failed.
	ConnectionFailed = NewReason("CONNECTION_FAILED", AllowsNonIdempotent)
	// PoolCleared: the server's connection pool was cleared between selection and checkout.
	PoolCleared = NewReason("POOL_CLEARED", AllowsNonIdempotent)
	// NotWritablePrimary: the server answered that it is not, or no longer, the primary.
	NotWritablePrimary = NewReason("NOT_WRITABLE_PRIMARY", AllowsNonIdempotent)
	// NodeRecovering: the server answered that it is shutting down, stepping down or recovering.
	NodeRecovering = NewReason("NODE_RECOVERING", AllowsNonIdempotent)
	// RetryableCode: the server answered with another code that the retryable reads specification lists.
	RetryableCode = NewReason("RETRYABLE_CODE")
	// RetryableWriteLabel: the server labelled its answer RetryableWriteError.
	RetryableWriteLabel = NewReason("RETRYABLE_WRITE_ERROR")
	// Overloaded: the server, or the way to it, labelled the error SystemOverloadedError and RetryableError.
	Overloaded = NewReason("SYSTEM_OVERLOADED", AllowsNonIdempotent)
)

var mongodbReasons = [...]Reason{
	NetworkError, ConnectionFailed, PoolCleared, NotWritablePrimary, NodeRecovering, RetryableCode, RetryableWriteLabel,
	Overloaded,
}

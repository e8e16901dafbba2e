package retry

import "slices"

// The reasons that any program can use. Those of one database have a package of their own: mongoreason, couchbasereason.
var (
	// ReasonUnknown is the reason of anything unexpected. It is never retried: no strategy is asked about it.
	ReasonUnknown = Reason{}
	// ReasonNetworkError: the connection broke, or the answer came too late, after bytes were sent.
	ReasonNetworkError = NewReason("NETWORK_ERROR")
	// ReasonConnectionFailed: no connection could be made, or its handshake failed.
	ReasonConnectionFailed = NewReason("CONNECTION_FAILED", FlagAllowsNonIdempotent)
	// ReasonOverloaded: the server, or a part of the network before it, said that it is overloaded and that the operation
	// may be retried.
	ReasonOverloaded = NewReason("SYSTEM_OVERLOADED", FlagAllowsNonIdempotent)
	// ReasonServiceResponseCodeIndicated: the server's answer, for example an HTTP status, means that nothing was done and that
	// the cause is temporary (RFC 0049).
	ReasonServiceResponseCodeIndicated = NewReason("SERVICE_RESPONSE_CODE_INDICATED", FlagAllowsNonIdempotent)
	// ReasonConflict: the server answered that another operation was in the way and that it did nothing, for example because a
	// version had changed or two transactions waited for each other. An answer of a conflict means that nothing was applied.
	ReasonConflict = NewReason("CONFLICT", FlagAllowsNonIdempotent)
	// ReasonRateLimited: the server answered that this caller sends too much (HTTP's 429). A limit of that kind is checked before
	// the operation is done, so nothing was applied.
	ReasonRateLimited = NewReason("RATE_LIMITED", FlagAllowsNonIdempotent)
	// ReasonUnavailable: the server, or a proxy before it, answered that the service is not available at the moment (HTTP's 503,
	// gRPC's UNAVAILABLE). A proxy gives this answer also when it lost the server's own, so it does not mean that nothing was
	// applied. If your server's answer means that, use [ReasonServiceResponseCodeIndicated].
	ReasonUnavailable = NewReason("UNAVAILABLE")
	// ReasonAttemptTimeout: the attempt reached [Options.AttemptTimeout]. It may have been applied, unless nothing was sent.
	ReasonAttemptTimeout = NewReason("ATTEMPT_TIMEOUT")
	// ReasonCircuitBreakerOpen: a circuit breaker stopped the attempt before it was made (RFC 0049). See [Breaker].
	ReasonCircuitBreakerOpen = NewReason("CIRCUIT_BREAKER_OPEN", FlagAllowsNonIdempotent)
)

var generalReasons = [...]Reason{
	ReasonUnknown, ReasonNetworkError, ReasonConnectionFailed, ReasonOverloaded, ReasonServiceResponseCodeIndicated,
	ReasonConflict, ReasonRateLimited, ReasonUnavailable, ReasonAttemptTimeout, ReasonCircuitBreakerOpen,
}

// GeneralReasons returns every reason that this package defines.
func GeneralReasons() []Reason { return slices.Clone(generalReasons[:]) }

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
	// ReasonOverloaded: the server, or a part of the network before it, said that it is overloaded and that the operation may be retried.
	ReasonOverloaded = NewReason("SYSTEM_OVERLOADED", FlagAllowsNonIdempotent)
	// ReasonServiceResponseCodeIndicated: the server's answer, for example an HTTP status, means that nothing was done and that
	// the cause is temporary (RFC 0049).
	ReasonServiceResponseCodeIndicated = NewReason("SERVICE_RESPONSE_CODE_INDICATED", FlagAllowsNonIdempotent)
	// ReasonCircuitBreakerOpen: a circuit breaker stopped the attempt before it was made (RFC 0049). See [Breaker].
	ReasonCircuitBreakerOpen = NewReason("CIRCUIT_BREAKER_OPEN", FlagAllowsNonIdempotent)
)

var generalReasons = [...]Reason{
	ReasonUnknown, ReasonNetworkError, ReasonConnectionFailed, ReasonOverloaded, ReasonServiceResponseCodeIndicated,
	ReasonCircuitBreakerOpen,
}

// GeneralReasons returns every reason that this package defines.
func GeneralReasons() []Reason { return slices.Clone(generalReasons[:]) }

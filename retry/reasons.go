package retry

import "slices"

// The reasons that any program can use. Those of one database have a package of their own: mongoreason, couchbasereason.
var (
	// ReasonUnknown is the reason of anything unexpected. It is refused before any strategy is asked.
	ReasonUnknown = Reason{}
	// ReasonNetworkError: the connection broke, or the answer came too late, after bytes were sent.
	ReasonNetworkError = NewReason("NETWORK_ERROR")
	// ReasonConnectionFailed: no connection could be made, or its handshake failed.
	ReasonConnectionFailed = NewReason("CONNECTION_FAILED", FlagAllowsNonIdempotent)
	// ReasonOverloaded: the server, or the way to it, said that it is overloaded and that the operation may be retried.
	ReasonOverloaded = NewReason("SYSTEM_OVERLOADED", FlagAllowsNonIdempotent)
	// ReasonServiceResponseCodeIndicated: an answer, for example of HTTP, that is known to be temporary, and that nothing was
	// done (RFC 0049).
	ReasonServiceResponseCodeIndicated = NewReason("SERVICE_RESPONSE_CODE_INDICATED", FlagAllowsNonIdempotent)
	// ReasonCircuitBreakerOpen: the breaker let nothing through (RFC 0049). See [Breaker].
	ReasonCircuitBreakerOpen = NewReason("CIRCUIT_BREAKER_OPEN", FlagAllowsNonIdempotent)
)

var generalReasons = [...]Reason{
	ReasonUnknown, ReasonNetworkError, ReasonConnectionFailed, ReasonOverloaded, ReasonServiceResponseCodeIndicated,
	ReasonCircuitBreakerOpen,
}

// GeneralReasons returns every reason that this package defines.
func GeneralReasons() []Reason { return slices.Clone(generalReasons[:]) }

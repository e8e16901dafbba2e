package telemetry

import "time"

// Decision is what follows an attempt that failed: another one, or the end of the operation. If the context ends during the delay of another attempt,
// a second decision says so.
type Decision struct {
	// Operation is nil for what the client sends for itself.
	Operation *Operation
	// Attempt is the number of the attempt that failed; the first is 0.
	Attempt int
	// Address is the server of that attempt, empty if there was none.
	Address string
	// Stage and Reason say how far the attempt came and why it failed, in the words of package retry: "in flight" and "NETWORK_ERROR", for example.
	Stage, Reason string
	// StopReason says why there is no other attempt, in the words of package retry. It is empty if there is one.
	StopReason string
	// Delay is the time before the next attempt. If there is none, it is the time that was too long.
	Delay time.Duration
	// Err is the error of the attempt or, at the end, that of the operation.
	Err error
}

package cluster

import (
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// ErrPoolClosed is returned by a checkout after the client was disconnected or the server left the deployment.
var ErrPoolClosed = errors.New("connection pool is closed")

// PoolClearedError is a checkout that met a pool whose server was found unusable since it was selected. Nothing was
// sent.
type PoolClearedError struct {
	Address string
	Cause   error // nil if the server was never found usable
}

// Error returns which pool was cleared and why.
func (e *PoolClearedError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("connection pool for %s is paused: the server was not found usable yet", e.Address)
	}
	return fmt.Sprintf("connection pool for %s was cleared because another operation failed with: %v", e.Address, e.Cause)
}

// Unwrap returns what cleared the pool.
func (e *PoolClearedError) Unwrap() error { return e.Cause }

// CheckOutError is a checkout that ended without a connection. Nothing was sent.
type CheckOutError struct {
	Address    string
	Out        uint64 // connections in use
	Connecting uint64 // connections being made
	Limit      uint64 // of all connections, 0 if there is none
	LongestUse time.Duration
	Waited     time.Duration
	Err        error
}

// Error says how many connections were out and for how long.
func (e *CheckOutError) Error() string {
	limit := "without a limit"
	if e.Limit > 0 {
		limit = fmt.Sprintf("of at most %d", e.Limit)
	}
	return fmt.Sprintf("no connection to %s after %v: %d %s are in use, the longest for %v, and %d are being made: %v",
		e.Address, e.Waited.Round(time.Millisecond), e.Out, limit, e.LongestUse.Round(time.Millisecond), e.Connecting, e.Err)
}

// Unwrap returns what ended the wait.
func (e *CheckOutError) Unwrap() error { return e.Err }

// checkOutFailure is the reason that a listener is told.
func checkOutFailure(err error) string {
	var exhausted *CheckOutError
	switch {
	case errors.Is(err, ErrPoolClosed):
		return event.ReasonPoolClosed
	case errors.As(err, &exhausted):
		return event.ReasonTimedOut
	default:
		return event.ReasonConnectionErrored
	}
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
)

// ErrPoolClosed is the error of a checkout after the client was disconnected or the server left the topology.
var ErrPoolClosed = errors.New("connection pool is closed")

// PoolClearedError is the error of a checkout from a paused pool: the pool was cleared after its server was selected.
// Nothing was sent.
type PoolClearedError struct {
	Address string
	Cause   error // the error that cleared the pool; nil if no check has succeeded yet
}

// Error returns the address and the cause.
func (e *PoolClearedError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("connection pool for %s is paused: no check of the server has succeeded yet", e.Address)
	}
	return fmt.Sprintf("connection pool for %s was cleared because another operation failed with: %v", e.Address, e.Cause)
}

// Unwrap returns the error that cleared the pool.
func (e *PoolClearedError) Unwrap() error { return e.Cause }

// Retryable is the method of the official driver's interface RetryablePoolError.
func (e *PoolClearedError) Retryable() bool { return true }

// errWaitQueueTimeout is the cause of a checkout that has waited for Config.WaitQueueTimeout.
var errWaitQueueTimeout = fmt.Errorf("waitQueueTimeoutMS has passed: %w", context.DeadlineExceeded)

// errCheckOutTimeout is the cause of a checkout that has waited for Config.ServerSelectionTimeout.
var errCheckOutTimeout = fmt.Errorf("serverSelectionTimeoutMS has passed, which also limits the wait for a connection: %w", context.DeadlineExceeded)

// CheckOutError is the error of a checkout whose context ended, or that waited for too long in the queue, before there was a
// connection. Nothing was sent.
type CheckOutError struct {
	Address    string
	Out        uint64        // connections in use
	Connecting int           // pending connections
	Limit      uint64        // maxPoolSize, 0 if there is no limit
	LongestUse time.Duration // the longest time for which one has been in use
	Waited     time.Duration
	Uses       [UseRequest + 1]uint64 // connections in use, by their use
	Err        error
	// Failed is the error of the last connection that was begun, nil if it was made.
	Failed error
	// LoadBalanced means that the pool is that of a load balancer.
	LoadBalanced bool
}

// Error returns the cause, the number of connections in use, the longest time for which one has been in use, how many of them
// cursors and transactions keep, and the error of the last connection that was begun, if it failed.
func (e *CheckOutError) Error() string {
	limit := "without a limit"
	if e.Limit > 0 {
		limit = fmt.Sprintf("of at most %d", e.Limit)
	}
	failed := ""
	if e.Failed != nil {
		failed = fmt.Sprintf(", the last one failed (%v)", e.Failed)
	}
	return fmt.Sprintf("no connection to %s after %v: %d %s are in use, the longest for %v, and %d are being made%s%s: %v",
		e.Address, e.Waited.Round(time.Millisecond), e.Out, limit, e.LongestUse.Round(time.Millisecond), e.Connecting, failed, e.pinned(), e.Err)
}

// pinned returns how many connections are pinned, in the words of the Load Balancer specification, "Connection Tracking". Without a
// load balancer it is empty if none is.
func (e *CheckOutError) pinned() string {
	if !e.LoadBalanced && e.Uses[UseCursor]+e.Uses[UseTransaction] == 0 {
		return ""
	}
	return fmt.Sprintf(" (Timeout waiting for connection from the connection pool. maxPoolSize: %d, connections in use by cursors: %d, "+
		"connections in use by transactions: %d, connections in use by other operations: %d)", e.Limit, e.Uses[UseCursor], e.Uses[UseTransaction], e.Uses[UseOperation]+e.Uses[UseRequest])
}

// Unwrap returns the cause: that of the context, or the timeout of the queue.
func (e *CheckOutError) Unwrap() error { return e.Err }

// As finds the official driver's WaitQueueTimeoutError.
func (e *CheckOutError) As(target any) bool { return drivererror.AsQueueTimeout(target, e.Err) }

// checkOutFailure returns the reason for the event ConnectionCheckOutFailed.
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

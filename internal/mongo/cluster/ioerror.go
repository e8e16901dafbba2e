package cluster

import (
	"errors"
	"fmt"
	"net"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
	"github.com/holdfast-db/holdfast/retry"
)

// IOError is a failed read or write. Stage is set where the bytes were written.
type IOError struct {
	Address    string
	Connection string // the connection's name in events: "host:port[-id]"
	Stage      retry.Stage
	Err        error
}

// Error returns the address, the stage and the cause.
func (e *IOError) Error() string {
	return fmt.Sprintf("connection to %s failed (%s): %v", e.Address, e.Stage, e.Err)
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

// As finds the official driver's ConnectionError.
func (e *IOError) As(target any) bool { return drivererror.AsConnection(target, e.Connection, e.Err) }

// Timeout reports whether the cause is a timeout.
func (e *IOError) Timeout() bool {
	var ne net.Error
	return errors.As(e.Err, &ne) && ne.Timeout()
}

// closeError returns the error of the event ConnectionClosed, nil if the reason is no error.
func (c *Conn) closeError(reason string) error {
	switch {
	case reason != event.ReasonError:
		return nil
	case c.failure != nil:
		return c.failure
	case c.interruption() != nil:
		return c.interruption()
	default:
		return errUnusable
	}
}

// errUnusable is why an idle connection is closed that its peer has closed, or on which unexpected bytes arrived, and one
// that is checked in before the whole reply was read.
var errUnusable = errors.New("the connection cannot be used again: it was closed by the server, or a reply was not read")

// Why a connection in use is interrupted. The text of the first is that of Connection Monitoring and Pooling, "Clearing a non-load
// balanced pool".
var (
	errMonitorTimeout = errors.New("interrupted due to server monitor timeout")
	ErrDisconnected   = errors.New("interrupted: the client was disconnected")
)

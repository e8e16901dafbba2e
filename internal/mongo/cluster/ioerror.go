package cluster

import (
	"errors"
	"fmt"
	"net"

	"github.com/holdfast-db/holdfast/retry"
)

// IOError is a failed read or write. Stage is set where the bytes were written.
type IOError struct {
	Address string
	Stage   retry.Stage
	Err     error
}

// Error returns the address, the stage and the cause.
func (e *IOError) Error() string {
	return fmt.Sprintf("connection to %s failed (%s): %v", e.Address, e.Stage, e.Err)
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

// Timeout reports whether the cause is a timeout.
func (e *IOError) Timeout() bool {
	var ne net.Error
	return errors.As(e.Err, &ne) && ne.Timeout()
}

var errInterrupted = errors.New("interrupted: the server did not answer its monitor, or the client was disconnected")

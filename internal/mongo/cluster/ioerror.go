package cluster

import (
	"errors"
	"fmt"
	"net"

	"github.com/holdfast-db/holdfast/retry"
)

// IOError is a connection that broke. Stage is known here, where the bytes were written.
type IOError struct {
	Address string
	Stage   retry.Stage
	Err     error
}

// Error returns the cause and how far the message had come.
func (e *IOError) Error() string {
	return fmt.Sprintf("connection to %s failed (%s): %v", e.Address, e.Stage, e.Err)
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

// Timeout reports whether a time limit broke the connection.
func (e *IOError) Timeout() bool {
	var ne net.Error
	return errors.As(e.Err, &ne) && ne.Timeout()
}

var errInterrupted = errors.New("interrupted: the server did not answer its monitor, or the client was disconnected")

package cluster

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// HandshakeError is a connection that could not be made ready. Nothing of an operation was sent on it.
type HandshakeError struct {
	Address string
	// Connecting: the failure came while connecting or in the hello, so that it may be the server's overload.
	Connecting bool
	Timeout    bool
	// Network: the connection failed, as opposed to an answer that refuses.
	Network bool
	// Reply is the server's refusal, nil if there was none.
	Reply bson.Raw
	Err   error
}

// Error returns what failed.
func (e *HandshakeError) Error() string {
	return fmt.Sprintf("connecting to %s failed: %v", e.Address, e.Err)
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// unwritten is a hello that the client could not write.
type unwritten struct{ err error }

func (u *unwritten) Error() string { return u.err.Error() }
func (u *unwritten) Unwrap() error { return u.err }

// refusal is a hello that was answered with an error.
type refusal struct {
	reply bson.Raw
	err   error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

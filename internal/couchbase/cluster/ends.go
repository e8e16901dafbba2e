package cluster

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// refusedError is the cause of the end of a connection by what a server answered.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// Refuse closes a connection by whose answer the state of it is not valid any more. The endpoint makes another one.
func (e *Endpoint) Refuse(conn *kv.Conn, cause error) {
	e.Lost(conn)
	conn.Close(refusedError{cause})
}

// reasonOf returns in a word why a connection has ended.
func reasonOf(err error) string {
	var refused refusedError
	switch {
	case errors.Is(err, ErrClosed):
		return "shutdown"
	case errors.Is(err, errLeft):
		return "node left"
	case errors.Is(err, errNotNeeded):
		return "unneeded"
	case errors.Is(err, errSilent):
		return "silent"
	case kv.IsLoginFailure(err):
		return "login"
	case errors.As(err, &refused):
		return "refused"
	}
	return "lost"
}

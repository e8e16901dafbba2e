package services

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// Call has what the operations of all services share.
type Call struct {
	Name string // for observers and strategies
	// ID is the operation's own identifier. The services write it to their logs; query and analytics get it also as the client
	// context id. It is best unique.
	ID string
	// Timeout is the time of the operation with all its attempts until the first row, and then that between two calls of Rows.Next. It
	// must be positive. The context's deadline holds for all together.
	Timeout time.Duration
	// Strategy decides about retries. Nil: that of the client.
	Strategy retry.Strategy
	// Data is the caller's own, for strategies and observers.
	Data any
	// Address, if set, is the only node that is asked.
	Address string
	// OnDispatch, if set, is called when an attempt has a connection. A panic of it, or of what it returns, passes through.
	OnDispatch func(Dispatch) Dispatched
}

// Dispatched has what is called later in an attempt. Both may be nil.
type Dispatched struct {
	// Head is called when the head of the answer is there, or with the error.
	Head func(error)
	// Ended is called when it is known whether the attempt has succeeded: its answer was read, up to the first row if it has rows. status is
	// HTTP's, 0 without an answer.
	Ended func(status int, err error)
}

// Dispatch is one attempt that has a connection.
type Dispatch struct {
	Service       clustermap.Service
	Address       string // of the node, by the map
	Local, Remote string // the two ends of the connection
	Retries       int    // of the operation so far
}

// Request is a request to a service.
type Request struct {
	Call
	Service clustermap.Service
	// Bucket is the bucket whose map names the nodes. "": that of the cluster.
	Bucket string
	Method string
	// Path is the escaped path, with the query part.
	Path string
	// Header has headers besides those that every request has. The type of a body is JSON if it is not set here.
	Header http.Header
	// Body returns the body of one attempt that has this much time left. Nil: there is no body.
	Body func(left time.Duration) ([]byte, error)
	// WithRows means that Timeout is the time of all rows too.
	WithRows bool
	// Idempotency is retry.ReadOnly for all that changes nothing.
	Idempotency retry.Idempotency
}

// check refuses a request that cannot be sent.
func (r *Request) check() error {
	switch {
	case r.Timeout <= 0:
		return invalid("the timeout is %v: it must be positive", r.Timeout)
	case !strings.HasPrefix(r.Path, "/"):
		return invalid("the path %q does not begin with a slash", r.Path)
	case r.Service == clustermap.KeyValue:
		return invalid("the key-value service is no HTTP service")
	default:
		return nil
	}
}

func invalid(format string, args ...any) error {
	return &Error{Kind: KindInvalidArgument, OutcomeKnown: true, Err: fmt.Errorf(format, args...)}
}

// Fixed returns the Body of a request whose bytes are always the same.
func Fixed(b []byte) func(time.Duration) ([]byte, error) {
	return func(time.Duration) ([]byte, error) { return b, nil }
}

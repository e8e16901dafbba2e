package operation

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Dispatch is one attempt that was sent, or could not be sent.
type Dispatch struct {
	Operation *Operation
	Attempt   int // the first is 0
	Began     time.Time
	Ended     time.Time
	Conn      *kv.Conn
	Opaque    uint32
	// Status is the answer's; Server is the time that the server needed, 0 if it did not tell. Err is set if no answer came.
	Status memd.Status
	Server time.Duration
	Err    error
}

// Tracer is told of each attempt that has a connection, for spans, meters and the threshold log. It must be safe for concurrent use.
// The operation waits for it.
type Tracer interface {
	// Dispatching is called before the round trip of an attempt. ctx is the caller's. The function that it returns, unless nil, is called
	// after the round trip.
	Dispatching(ctx context.Context, op *Operation) func(Dispatch)
}

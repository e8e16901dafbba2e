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
	// Status is the answer's; Server is the time that the server needed, 0 if it did not tell. Err is why the attempt failed, whether an answer
	// came or not.
	Status memd.Status
	Server time.Duration
	Err    error
}

// Tracer is told of each attempt that has a connection, for spans, meters and the threshold log. It must be safe for concurrent use.
// The operation waits for it.
type Tracer interface {
	// Dispatching is called before the round trip of an attempt, the first of which is 0. ctx is the caller's. The function that it returns,
	// unless nil, is called after the round trip.
	Dispatching(ctx context.Context, op *Operation, attempt int, conn *kv.Conn) func(Dispatch)
}

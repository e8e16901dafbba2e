package operation

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// WriteConcern is a write concern with its wtimeout, which the official type lacks. The zero WriteConcern is not sent: the
// server's default applies.
type WriteConcern struct {
	*writeconcern.WriteConcern
	// Timeout is the wtimeout, in whole milliseconds: 0 means none. It is not sent if the operation has a deadline (Client-Side
	// Operations Timeout specification, "Validation and Overrides").
	Timeout time.Duration
}

// retriedCommit returns the write concern of the retries of a commit: majority, with 10 seconds if it has no wtimeout
// (Transactions specification, "Majority write concern is used when retrying commitTransaction").
func (wc WriteConcern) retriedCommit() WriteConcern {
	majority := writeconcern.WriteConcern{W: writeconcern.WCMajority}
	if wc.WriteConcern != nil {
		majority.Journal = wc.Journal
	}
	if wc.Timeout == 0 {
		wc.Timeout = commitTimeout
	}
	return WriteConcern{WriteConcern: &majority, Timeout: wc.Timeout}
}

// commitTimeout is the wtimeout of the retries of a commit, also with a deadline.
const commitTimeout = 10 * time.Second

// writeConcern returns the write concern of the attempt.
func (r *run) writeConcern(ctx context.Context) WriteConcern {
	wc := r.op.WriteConcern
	if r.op.ends != endsNothing {
		wc = r.session.transaction.options.WriteConcern
	}
	if _, ok := ctx.Deadline(); ok {
		wc.Timeout = 0
	}
	if r.op.ends == commits && r.session.transaction.majority {
		return wc.retriedCommit()
	}
	return wc
}

// appendTo writes the write concern, unless it is empty.
func (wc WriteConcern) appendTo(b []byte) ([]byte, error) {
	given := wc.WriteConcern
	if given == nil {
		given = new(writeconcern.WriteConcern)
	}
	if given.W == nil && given.Journal == nil && wc.Timeout == 0 {
		return b, nil
	}
	at, b := wire.BeginEmbedded(b, "writeConcern")
	switch w := given.W.(type) {
	case nil:
	case int:
		b = wire.AppendInt32(b, "w", int32(w))
	case string:
		b = wire.AppendString(b, "w", w)
	default:
		return nil, fmt.Errorf("write concern: w is a %T; it must be an int or a string", given.W)
	}
	if given.Journal != nil {
		b = wire.AppendBool(b, "j", *given.Journal)
	}
	if wc.Timeout != 0 {
		b = wire.AppendInt64(b, "wtimeout", wc.Timeout.Milliseconds())
	}
	return wire.EndDocument(b, at), nil
}

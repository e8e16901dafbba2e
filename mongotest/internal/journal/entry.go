package journal

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Entry is one attempt at a statement. mongotest.Entry, which is made from it, says what the fields mean.
type Entry struct {
	Seq                              int64
	Time                             time.Time
	Member                           int
	Term, ConnID                     int64
	RequestID                        int32
	Command, Namespace, LSID         string
	TxnNumber                        int64
	StatementID                      int32
	Key                              string
	Statement                        bson.Raw
	Deduplicated                     bool
	RequestLost, ReplyLost           bool
	Answered                         bool
	ErrorCode, WriteConcernErrorCode int32

	Outcome store.Outcome // of the entry of the log that it stands for
}

package operation

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// CursorReply is the cursor in a reply of find, aggregate, a list command or getMore. Its parts alias the
// connection's buffer.
type CursorReply struct {
	ID        int64 // 0 if the server has no more documents
	Namespace []byte
	Batch     []byte // an array
	// ResumeToken is the postBatchResumeToken of a change stream, else nil.
	ResumeToken []byte

	atClusterTime Timestamp
}

var errNoCursor = errors.New("the server's reply has no cursor with a batch")

// ReadCursor returns the reply's cursor.
func (r *Reply) ReadCursor() (CursorReply, error) {
	if !r.cursorRead {
		r.cursorRead = true
		r.cursor, r.cursorErr = readCursor(r.Cursor)
	}
	return r.cursor, r.cursorErr
}

func readCursor(cursor []byte) (CursorReply, error) {
	var c CursorReply
	if cursor == nil {
		return c, errNoCursor
	}
	it := wire.Elements(cursor)
	for it.Next() {
		switch string(it.Key) {
		case "id":
			c.ID, _ = it.Int64()
		case "ns":
			c.Namespace = it.Text()
		case "firstBatch", "nextBatch":
			c.Batch = it.Array()
		case "postBatchResumeToken":
			c.ResumeToken = it.Document()
		case "atClusterTime":
			c.atClusterTime, _ = timestamp(&it.Element)
		}
	}
	if it.Err != nil {
		return CursorReply{}, it.Err
	}
	if c.Batch == nil {
		return CursorReply{}, errNoCursor
	}
	return c, nil
}

// snapshotTime returns the atClusterTime of a snapshot read, which is in the reply or in its cursor. It is 0 if there
// is none.
func (r *Reply) snapshotTime() Timestamp {
	if r.atClusterTime != 0 || r.Cursor == nil {
		return r.atClusterTime
	}
	c, err := r.ReadCursor()
	if err != nil {
		return 0
	}
	return c.atClusterTime
}

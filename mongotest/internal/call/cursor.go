package call

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Cursor is a result that a client fetches in batches.
type Cursor struct {
	ID         int64
	NS         string
	Feed       Feed
	Ahead      []byte // the document that was taken from the feed and did not fit into the last batch
	Projection *query.Projection
	vars       any     // of the projection
	Origin     *Origin // whose documents these are, nil if they are nobody's
	Use        currentop.Use
	User       string // who opened it, "" without access control
	Await      bool   // a getMore waits for something to return
	Limited    bool   // its command had a maxTimeMS
	Pinned     bool   // a getMore is under way
	ends       bool   // the server knows without looking further that the last document is the last
	full       bool   // so was the last batch, which does not show that there is nothing behind it
	order      BatchPlace
	LSID       string // of the session that made it, "" if none did
	txn        int64  // the transaction's number, -1 if it was made in none
}

// Feed is where a cursor's documents come from.
type Feed interface {
	// Next returns the next document, nil if there is none now.
	Next(x *Call) ([]byte, error)
	// News reports whether Next may find something after it found nothing.
	News(x Locked) bool
	// Over reports whether there will never be another.
	Over() bool
}

// Stream is the feed of a change stream.
type Stream interface {
	Feed
	// PositionOf returns the token behind which a client stands that has a batch of the cursor.
	PositionOf(c *Cursor, batch [][]byte) []byte
}

// fixed is a result that was complete when its command ran.
type fixed struct{ docs [][]byte }

func (f *fixed) Next(*Call) ([]byte, error) {
	if len(f.docs) == 0 {
		return nil, nil
	}
	doc := f.docs[0]
	f.docs = f.docs[1:]
	return doc, nil
}

func (f *fixed) News(Locked) bool { return false }

func (f *fixed) Over() bool { return len(f.docs) == 0 }

// Exhausted reports whether the client has everything that there will ever be.
func (c *Cursor) Exhausted() bool { return c.Ahead == nil && !c.full && c.Feed.Over() }

// Batch takes documents for a batch: at most size of them, and at most 16 MiB but always one.
func (c *Cursor) Batch(x *Call, size int64) ([][]byte, error) {
	var docs [][]byte
	bytes := 0
	c.full = false
	for int64(len(docs)) < size {
		doc := c.Ahead
		if c.Ahead = nil; doc == nil {
			var err error
			if doc, err = c.Feed.Next(x); doc == nil || err != nil {
				return docs, err
			}
		}
		if bytes += len(doc); len(docs) > 0 && bytes > query.MaxDocumentSize {
			c.Ahead = doc
			break
		}
		docs = append(docs, doc)
	}
	c.full = int64(len(docs)) == size && (size == 0 || !c.ends)
	return docs, nil
}

// CursorReply is how a command answers with its first batch.
type CursorReply struct {
	Size   int64
	Single bool // there is no other
	Ends   bool // as in cursor
	Reads  bool // the real server has not yet read all that is behind the batch
	Order  BatchPlace
}

// BatchPlace is where among the fields of a reply's cursor the batch is, which differs from command to command.
type BatchPlace uint8

// The places of a batch.
const (
	batchFirst  BatchPlace = iota // firstBatch, id, ns
	BatchMiddle                   // id, firstBatch, ns: bulkWrite
	BatchLast                     // id, ns, firstBatch: lists of collections and indexes
)

// ReplyCursor writes the first batch of a result, and keeps the rest for getMore.
func (x *Call) ReplyCursor(docs [][]byte, p *query.Projection, b CursorReply) error {
	c := &Cursor{Feed: &fixed{docs}, Projection: p, ends: b.Ends, order: b.Order}
	if b.Reads {
		c.Origin = WithLock(x, origin)
	}
	first, err := c.Batch(x, b.Size)
	if err != nil {
		return err
	}
	return x.Open(c, first, b.Single)
}

// Open writes a cursor's first batch, and keeps the cursor if there is or may be more.
func (x *Call) Open(c *Cursor, first [][]byte, single bool) error {
	c.User = x.UserName()
	c.NS, c.vars, c.LSID, c.txn = x.Command.Full, x.Result.Vars.Values, string(x.Command.LSID), transactionNumber(x)
	c.Limited = x.Command.MaxTime > 0
	list, err := x.AppendBatch(nil, c, "firstBatch", first)
	if err != nil {
		return x.Executing(x.Command.Name, err)
	}
	if single {
		c.full = false
	}
	if !c.Exhausted() && !single {
		c.Use = beginUse(x)
		c.Use.Docs, c.Use.Batches = int64(len(first)), 1
		c.ID = WithLock(x, func(x Locked) int64 { return keepCursor(x, c) })
	}
	at, dst := wire.BeginEmbedded(x.Result.Out, "cursor")
	switch c.order {
	case BatchMiddle:
		dst = append(wire.AppendInt64(dst, "id", c.known()), list...)
		dst = wire.AppendString(dst, "ns", c.NS)
	case BatchLast:
		dst = wire.AppendString(wire.AppendInt64(dst, "id", c.known()), "ns", c.NS)
		dst = append(dst, list...)
	case batchFirst:
		if dst = append(dst, list...); x.Snapshot() {
			dst = wire.AppendTimestamp(dst, "atClusterTime", x.Command.AtTime.Seconds(), x.Command.AtTime.Increment())
		}
		x.Result.Out = c.AppendIdentity(dst, at)
		return nil
	}
	x.Result.Out = wire.EndDocument(dst, at)
	return nil
}

// known is the id by which a client goes on: 0 when there is no more.
func (c *Cursor) known() int64 {
	if c.Exhausted() {
		return 0
	}
	return c.ID
}

// AppendBatch writes a batch and, of a change stream, behind what it stands.
func (x *Call) AppendBatch(dst []byte, c *Cursor, name string, docs [][]byte) ([]byte, error) {
	at, dst := wire.BeginArray(dst, name)
	for i, doc := range docs {
		if c.Projection == nil {
			dst = wire.AppendDocument(dst, wire.ArrayKey(i), doc)
			continue
		}
		var err error
		if dst, err = c.Projection.AppendElementWith(dst, wire.ArrayKey(i), doc, c.vars); err != nil {
			return nil, err
		}
	}
	dst = wire.EndDocument(dst, at)
	if s, ok := c.Feed.(Stream); ok && x.Client.Set.Version.TellsPosition() {
		dst = wire.AppendDocument(dst, "postBatchResumeToken", s.PositionOf(c, docs))
	}
	return dst, nil
}

// AppendIdentity writes what ends the reply's cursor, which began at an index.
func (c *Cursor) AppendIdentity(dst []byte, at int) []byte {
	dst = wire.AppendInt64(dst, "id", c.known())
	dst = wire.AppendString(dst, "ns", c.NS)
	return wire.EndDocument(dst, at)
}

// Snapshot reports whether the reply says at which time it was read.
func (x *Call) Snapshot() bool { return x.Command.ReadConcern == SnapshotConcern && !x.InTransaction() }

// transactionNumber returns the number of the command's transaction, -1 if it is in none.
func transactionNumber(x *Call) int64 {
	if x.InTransaction() {
		return x.Command.Txn
	}
	return -1
}

// Belongs returns why the command may not go on with a cursor, nil if it may: a cursor stays in its session and transaction.
func (x Locked) Belongs(c *Cursor) error {
	txn := transactionNumber(x.Call)
	switch {
	case c.LSID == "" && x.Command.LSID != nil:
		return mongoerr.Errorf(50737,
			"Cannot run getMore on cursor %d, which was not created in a session, in session %s", c.ID, sessionName(x.Command.LSID))
	case c.LSID != "" && x.Command.LSID == nil:
		return mongoerr.Errorf(50736, "Cannot run getMore on cursor %d, which was created in session %s, without an lsid", c.ID,
			sessionName([]byte(c.LSID)))
	case c.LSID != string(x.Command.LSID):
		return mongoerr.Errorf(50738, "Cannot run getMore on cursor %d, which was created in session %s, in session %s", c.ID,
			sessionName([]byte(c.LSID)), sessionName(x.Command.LSID))
	case c.txn < 0 && txn >= 0:
		return mongoerr.Errorf(50739, "Cannot run getMore on cursor %d, which was not created in a transaction, in transaction %d", c.ID, txn)
	case c.txn >= 0 && txn < 0:
		return mongoerr.Errorf(50740, "Cannot run getMore on cursor %d, which was created in a transaction, without a txnNumber", c.ID)
	case c.txn != txn:
		return mongoerr.Errorf(50741, "Cannot run getMore on cursor %d, which was created in transaction %d, in transaction %d", c.ID, c.txn, txn)
	case txn >= 0:
		return join(x)
	}
	return nil
}

// keepCursor keeps a cursor, and returns its id.
func keepCursor(x Locked, c *Cursor) int64 {
	x.Client.Cluster.cursors++
	// The ids are spread so that a client which cuts them to 32 bits is found out.
	id := x.Client.Cluster.cursors<<32 | int64(x.Client.Member.Index+1)
	if x.Client.Epoch != x.Client.Member.Epoch {
		return id
	}
	x.Client.Member.Cursors[id] = c
	if x.Client.Router != nil {
		x.Client.Router.Cursors[id] = x.Client.Member
	}
	return id
}

package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// cursor is a result that a client fetches in batches.
type cursor struct {
	id         int64
	ns         string
	feed       feed
	ahead      []byte // the document that was taken from the feed and did not fit into the last batch
	projection *query.Projection
	vars       any     // of the projection
	origin     *origin // whose documents these are, nil if they are nobody's
	use        currentop.Use
	user       string // who opened it, "" without access control
	await      bool   // a getMore waits for something to return
	limited    bool   // its command had a maxTimeMS
	pinned     bool   // a getMore is under way
	ends       bool   // the server knows without looking further that the last document is the last
	full       bool   // so was the last batch, which does not show that there is nothing behind it
	order      batchPlace
	lsid       string // of the session that made it, "" if none did
	txn        int64  // the transaction's number, -1 if it was made in none
}

// feed is where a cursor's documents come from.
type feed interface {
	// next returns the next document, nil if there is none now.
	next(x *call) ([]byte, error)
	// newsLocked reports whether next may find something after it found nothing.
	newsLocked(x *call) bool
	// over reports whether there will never be another.
	over() bool
}

// stream is the feed of a change stream.
type stream interface {
	feed
	// positionOf returns the token behind which a client stands that has a batch of the cursor.
	positionOf(c *cursor, batch [][]byte) []byte
}

// fixed is a result that was complete when its command ran.
type fixed struct{ docs [][]byte }

func (f *fixed) next(*call) ([]byte, error) {
	if len(f.docs) == 0 {
		return nil, nil
	}
	doc := f.docs[0]
	f.docs = f.docs[1:]
	return doc, nil
}

func (f *fixed) newsLocked(*call) bool { return false }

func (f *fixed) over() bool { return len(f.docs) == 0 }

// exhausted reports whether the client has everything that there will ever be.
func (c *cursor) exhausted() bool { return c.ahead == nil && !c.full && c.feed.over() }

// batch takes documents for a batch: at most size of them, and at most 16 MiB but always one.
func (c *cursor) batch(x *call, size int64) ([][]byte, error) {
	var docs [][]byte
	bytes := 0
	c.full = false
	for int64(len(docs)) < size {
		doc := c.ahead
		if c.ahead = nil; doc == nil {
			var err error
			if doc, err = c.feed.next(x); doc == nil || err != nil {
				return docs, err
			}
		}
		if bytes += len(doc); len(docs) > 0 && bytes > query.MaxDocumentSize {
			c.ahead = doc
			break
		}
		docs = append(docs, doc)
	}
	c.full = int64(len(docs)) == size && (size == 0 || !c.ends)
	return docs, nil
}

// cursorReply is how a command answers with its first batch.
type cursorReply struct {
	size   int64
	single bool // there is no other
	ends   bool // as in cursor
	reads  bool // the real server has not yet read all that is behind the batch
	order  batchPlace
}

// batchPlace is where among the fields of a reply's cursor the batch is, which differs from command to command.
type batchPlace uint8

const (
	batchFirst  batchPlace = iota // firstBatch, id, ns
	batchMiddle                   // id, firstBatch, ns: bulkWrite
	batchLast                     // id, ns, firstBatch: lists of collections and indexes
)

// replyCursor writes the first batch of a result, and keeps the rest for getMore.
func (x *call) replyCursor(docs [][]byte, p *query.Projection, b cursorReply) error {
	c := &cursor{feed: &fixed{docs}, projection: p, ends: b.ends, order: b.order}
	if b.reads {
		x.client.set.Lock()
		c.origin = x.originLocked()
		x.client.set.Unlock()
	}
	first, err := c.batch(x, b.size)
	if err != nil {
		return err
	}
	return x.open(c, first, b.single)
}

// open writes a cursor's first batch, and keeps the cursor if there is or may be more.
func (x *call) open(c *cursor, first [][]byte, single bool) error {
	c.user = x.userName()
	c.ns, c.vars, c.lsid, c.txn = x.command.full, x.result.vars.values, string(x.command.lsid), x.transactionNumber()
	c.limited = x.command.maxTime > 0
	list, err := x.appendBatch(nil, c, "firstBatch", first)
	if err != nil {
		return x.executing(x.command.name, err)
	}
	if single {
		c.full = false
	}
	if !c.exhausted() && !single {
		c.use = x.beginUse()
		c.use.Docs, c.use.Batches = int64(len(first)), 1
		x.keepCursor(c)
	}
	at, dst := wire.BeginEmbedded(x.result.out, "cursor")
	switch c.order {
	case batchMiddle:
		dst = append(wire.AppendInt64(dst, "id", c.known()), list...)
		dst = wire.AppendString(dst, "ns", c.ns)
	case batchLast:
		dst = wire.AppendString(wire.AppendInt64(dst, "id", c.known()), "ns", c.ns)
		dst = append(dst, list...)
	case batchFirst:
		if dst = append(dst, list...); x.snapshot() {
			dst = wire.AppendTimestamp(dst, "atClusterTime", x.command.atTime.Seconds(), x.command.atTime.Increment())
		}
		x.result.out = c.appendIdentity(dst, at)
		return nil
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// known is the id by which a client goes on: 0 when there is no more.
func (c *cursor) known() int64 {
	if c.exhausted() {
		return 0
	}
	return c.id
}

// appendBatch writes a batch and, of a change stream, behind what it stands.
func (x *call) appendBatch(dst []byte, c *cursor, name string, docs [][]byte) ([]byte, error) {
	at, dst := wire.BeginArray(dst, name)
	for i, doc := range docs {
		if c.projection == nil {
			dst = wire.AppendDocument(dst, wire.ArrayKey(i), doc)
			continue
		}
		var err error
		if dst, err = c.projection.AppendElementWith(dst, wire.ArrayKey(i), doc, c.vars); err != nil {
			return nil, err
		}
	}
	dst = wire.EndDocument(dst, at)
	if s, ok := c.feed.(stream); ok && x.client.set.Version.TellsPosition() {
		dst = wire.AppendDocument(dst, "postBatchResumeToken", s.positionOf(c, docs))
	}
	return dst, nil
}

// appendIdentity writes what ends the reply's cursor, which began at an index.
func (c *cursor) appendIdentity(dst []byte, at int) []byte {
	dst = wire.AppendInt64(dst, "id", c.known())
	dst = wire.AppendString(dst, "ns", c.ns)
	return wire.EndDocument(dst, at)
}

// snapshot reports whether the reply says at which time it was read.
func (x *call) snapshot() bool { return x.command.readConcern == snapshotConcern && !x.inTransaction() }

// transactionNumber returns the number of the command's transaction, -1 if it is in none.
func (x *call) transactionNumber() int64 {
	if x.inTransaction() {
		return x.command.txn
	}
	return -1
}

// belongs returns why the command may not go on with a cursor, nil if it may: a cursor stays in its session and transaction.
func (x *call) belongs(c *cursor) error {
	txn := x.transactionNumber()
	switch {
	case c.lsid == "" && x.command.lsid != nil:
		return mongoerr.Errorf(50737,
			"Cannot run getMore on cursor %d, which was not created in a session, in session %s", c.id, sessionName(x.command.lsid))
	case c.lsid != "" && x.command.lsid == nil:
		return mongoerr.Errorf(50736, "Cannot run getMore on cursor %d, which was created in session %s, without an lsid", c.id,
			sessionName([]byte(c.lsid)))
	case c.lsid != string(x.command.lsid):
		return mongoerr.Errorf(50738, "Cannot run getMore on cursor %d, which was created in session %s, in session %s", c.id,
			sessionName([]byte(c.lsid)), sessionName(x.command.lsid))
	case c.txn < 0 && txn >= 0:
		return mongoerr.Errorf(50739, "Cannot run getMore on cursor %d, which was not created in a transaction, in transaction %d", c.id, txn)
	case c.txn >= 0 && txn < 0:
		return mongoerr.Errorf(50740, "Cannot run getMore on cursor %d, which was created in a transaction, without a txnNumber", c.id)
	case c.txn != txn:
		return mongoerr.Errorf(50741, "Cannot run getMore on cursor %d, which was created in transaction %d, in transaction %d", c.id, c.txn, txn)
	case txn >= 0:
		return x.joinLocked()
	}
	return nil
}

func (x *call) keepCursor(c *cursor) {
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	rs.cursors++
	// The ids are spread so that a client which cuts them to 32 bits is found out.
	c.id = rs.cursors<<32 | int64(x.client.member.Index+1)
	if x.client.epoch != x.client.member.Epoch {
		return
	}
	x.client.member.cursors[c.id] = c
	if x.client.router != nil {
		x.client.router.cursors[c.id] = x.client.member
	}
}

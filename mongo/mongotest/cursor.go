package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// cursor is what a client has not yet fetched of a result, which was fixed when the command ran.
type cursor struct {
	id         int64
	ns         string
	docs       [][]byte
	projection *query.Projection
	vars       any    // of the projection
	lsid       string // of the session that made it, "" if none did
	txn        int64  // the transaction's number, -1 if it was made in none
}

// replyCursor writes a first batch, and keeps the rest for getMore.
func (x *exec) replyCursor(docs [][]byte, p *query.Projection, size int64, single bool) error {
	c := &cursor{ns: x.full, docs: docs, projection: p, vars: x.vars.values, lsid: string(x.lsid), txn: x.transactionNumber()}
	at, dst := wire.BeginEmbedded(x.out, "cursor")
	dst, err := c.appendBatch(dst, "firstBatch", size)
	if err != nil {
		return x.executing(x.name, err)
	}
	if len(c.docs) > 0 && !single {
		x.keepCursor(c)
	}
	if x.snapshot() {
		dst = wire.AppendTimestamp(dst, "atClusterTime", x.atTime.seconds(), x.atTime.increment())
	}
	dst = wire.AppendInt64(dst, "id", c.id)
	dst = wire.AppendString(dst, "ns", c.ns)
	x.out = wire.EndDocument(dst, at)
	return nil
}

// snapshot tells whether the reply says at which time it was read.
func (x *exec) snapshot() bool { return x.readConcern == "snapshot" && !x.inTransaction() }

// transactionNumber returns the number of the command's transaction, -1 if it is in none.
func (x *exec) transactionNumber() int64 {
	if x.inTransaction() {
		return x.txn
	}
	return -1
}

// belongs tells why the command may not go on with a cursor, nil if it may: a cursor stays in its session and transaction.
func (x *exec) belongs(c *cursor) error {
	txn := x.transactionNumber()
	switch {
	case c.lsid == "" && x.lsid != nil:
		return failf(50737, "Cannot run getMore on cursor %d, which was not created in a session, in session %s", c.id, sessionName(x.lsid))
	case c.lsid != "" && x.lsid == nil:
		return failf(50736, "Cannot run getMore on cursor %d, which was created in session %s, without an lsid", c.id,
			sessionName([]byte(c.lsid)))
	case c.lsid != string(x.lsid):
		return failf(50738, "Cannot run getMore on cursor %d, which was created in session %s, in session %s", c.id,
			sessionName([]byte(c.lsid)), sessionName(x.lsid))
	case c.txn < 0 && txn >= 0:
		return failf(50739, "Cannot run getMore on cursor %d, which was not created in a transaction, in transaction %d", c.id, txn)
	case c.txn >= 0 && txn < 0:
		return failf(50740, "Cannot run getMore on cursor %d, which was created in a transaction, without a txnNumber", c.id)
	case c.txn != txn:
		return failf(50741, "Cannot run getMore on cursor %d, which was created in transaction %d, in transaction %d", c.id, c.txn, txn)
	case txn >= 0:
		return x.joinLocked()
	}
	return nil
}

func (x *exec) keepCursor(c *cursor) {
	rs := x.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.cursors++
	// The ids are spread so that a client which cuts them to 32 bits is found out.
	c.id = rs.cursors<<32 | int64(x.member.index+1)
	if x.epoch == x.member.epoch {
		x.member.cursors[c.id] = c
	}
}

// appendBatch takes documents off the cursor: at most size of them, and at most 16 MiB but always one.
func (c *cursor) appendBatch(dst []byte, name string, size int64) ([]byte, error) {
	at, dst := wire.BeginArray(dst, name)
	n := 0
	for int64(n) < size && len(c.docs) > 0 {
		doc := c.docs[0]
		if n > 0 && len(dst)-at+len(doc) > query.MaxDocumentSize {
			break
		}
		if c.projection != nil {
			var err error
			if dst, err = c.projection.AppendElementWith(dst, wire.ArrayKey(n), doc, c.vars); err != nil {
				return nil, err
			}
		} else {
			dst = wire.AppendDocument(dst, wire.ArrayKey(n), doc)
		}
		c.docs = c.docs[1:]
		n++
	}
	return wire.EndDocument(dst, at), nil
}

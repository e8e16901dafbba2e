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
}

// replyCursor writes a first batch, and keeps the rest for getMore.
func (x *exec) replyCursor(docs [][]byte, p *query.Projection, size int64, single bool) error {
	c := &cursor{ns: x.full, docs: docs, projection: p}
	at, dst := wire.BeginEmbedded(x.out, "cursor")
	dst, err := c.appendBatch(dst, "firstBatch", size)
	if err != nil {
		return x.finding(err)
	}
	if len(c.docs) > 0 && !single {
		x.keepCursor(c)
	}
	dst = wire.AppendInt64(dst, "id", c.id)
	dst = wire.AppendString(dst, "ns", c.ns)
	x.out = wire.EndDocument(dst, at)
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
			if dst, err = c.projection.AppendElementWith(dst, wire.ArrayKey(n), doc, nil); err != nil {
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

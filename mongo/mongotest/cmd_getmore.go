package mongotest

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/getMore/

func cmdGetMore(x *exec) error {
	if x.first.Type != bson.TypeInt64 {
		return wrongType("getMore", "getMore", x.first.Type, "long")
	}
	id, _ := x.first.Integer()
	coll, size := "", int64(math.MaxInt64)
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "collection":
			coll = string(e.Text())
		case "batchSize":
			n, err := countArg("getMore", e)
			if err != nil {
				return err
			}
			if n > 0 {
				size = n
			}
		default:
			return unknownField("getMore", string(e.Key))
		}
	}
	x.target = x.db + "." + coll
	c, err := x.takeCursor(id, x.target)
	if err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.out, "cursor")
	if dst, err = c.appendBatch(dst, "nextBatch", size); err != nil {
		return x.executing("getMore", err)
	}
	if len(c.docs) == 0 {
		x.dropCursor(c.id)
		c.id = 0
	}
	dst = wire.AppendInt64(dst, "id", c.id)
	dst = wire.AppendString(dst, "ns", c.ns)
	x.out = wire.EndDocument(dst, at)
	return nil
}

func (x *exec) takeCursor(id int64, ns string) (*cursor, error) {
	x.set.mu.Lock()
	defer x.set.mu.Unlock()
	if x.epoch != x.member.epoch {
		return nil, errHangUp
	}
	c := x.member.cursors[id]
	switch {
	case c == nil:
		return nil, failf(codeCursorNotFound, "cursor id %d not found", id)
	case c.ns != ns:
		return nil, failf(codeUnauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s",
			ns, c.ns)
	}
	if err := x.belongs(c); err != nil {
		return nil, err
	}
	return c, x.failGetMoreLocked(c)
}

// dropCursor forgets a cursor and tells whether it was there.
func (x *exec) dropCursor(id int64) bool {
	x.set.mu.Lock()
	defer x.set.mu.Unlock()
	_, ok := x.member.cursors[id]
	delete(x.member.cursors, id)
	return ok
}

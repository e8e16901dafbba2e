package growth

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// batchSize is the number of documents in a batch of the long cursor.
const batchSize = 1_000

// The collections that the server has, by what a find finds.
const (
	database = "growth"
	single   = "single" // one document
	endless  = "endless"
)

// cursor is what is left of a connection's long cursor, with its messages: the same bytes but for the ids.
type cursor struct {
	left        int64
	first, next []byte
}

// reply returns the reply to a command other than hello.
func (c *conn) reply(id int32, body bson.Raw) []byte {
	switch body.Index(0).Key() {
	case "find":
		if body.Index(0).Value().StringValue() == endless {
			c.cursor.left = body.Lookup("filter", "documents").AsInt64()
			return c.batch(id, "firstBatch")
		}
		return message(id, 0, 0, cursorReply("firstBatch", single, 1, 0))
	case "getMore":
		return c.batch(id, "nextBatch")
	case "insert":
		at, b := wire.BeginDocument(nil)
		b = wire.AppendInt32(b, "n", c.inserted(len(body)))
		return message(id, 0, 0, wire.EndDocument(wire.AppendDouble(b, "ok", 1), at))
	default:
		at, b := wire.BeginDocument(nil)
		return message(id, 0, 0, wire.EndDocument(wire.AppendDouble(b, "ok", 1), at))
	}
}

// batch returns the next batch of the long cursor. The last one is made anew, because its cursor has ended.
func (c *conn) batch(id int32, name string) []byte {
	c.cursor.left -= batchSize
	if c.cursor.left <= 0 {
		return message(id, 0, 0, cursorReply(name, endless, batchSize, 0))
	}
	kept := &c.cursor.first
	if name == "nextBatch" {
		kept = &c.cursor.next
	}
	if *kept == nil {
		*kept = message(id, 0, 0, cursorReply(name, endless, batchSize, 1))
	}
	binary.LittleEndian.PutUint32((*kept)[8:], uint32(id))
	return *kept
}

// cursorReply returns a reply with n documents.
func cursorReply(name, collection string, n int, cursorID int64) []byte {
	at, b := wire.BeginDocument(nil)
	cursor, b := wire.BeginEmbedded(b, "cursor")
	batch, b := wire.BeginArray(b, name)
	for i := range n {
		b = wire.AppendDocument(b, wire.ArrayKey(i), stored())
	}
	b = wire.EndDocument(b, batch)
	b = wire.AppendString(wire.AppendInt64(b, "id", cursorID), "ns", database+"."+collection)
	return wire.EndDocument(wire.AppendDouble(wire.EndDocument(b, cursor), "ok", 1), at)
}

func stored() []byte {
	at, b := wire.BeginDocument(nil)
	b = wire.AppendObjectID(b, "_id", bson.ObjectID{7})
	b = wire.AppendString(b, "name", "Ada Lovelace")
	return wire.EndDocument(wire.AppendInt32(b, "age", 36), at)
}

// inserted returns how many documents the second section of an insert has.
func (c *conn) inserted(bodyLength int) int32 {
	at := bodyStart + bodyLength + 1
	end := at + int(binary.LittleEndian.Uint32(c.request[at:]))
	n := int32(0)
	for at += 4 + len("documents") + 1; at < end; n++ {
		at += int(binary.LittleEndian.Uint32(c.request[at:]))
	}
	return n
}

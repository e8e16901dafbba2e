package router

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// AppendReply writes a whole message that answers with a document. A find in an OP_QUERY and an OP_GET_MORE get the documents of the batch
// instead, or an error as they know it.
func (c *command) AppendReply(dst []byte, id int32, document []byte) []byte {
	if c.old == nil || c.old.kill {
		return c.ClientMessage.AppendReply(dst, id, document)
	}
	ok := field(document, "ok")
	switch {
	case !ok.True():
		return c.appendOldError(dst, id, document)
	case c.old.explained:
		return wire.AppendReply(dst, id, c.Header.RequestID, document)
	}
	found := field(document, "cursor")
	cursor := found.Document()
	cursorID := field(cursor, "id")
	open, _ := cursorID.Int64()
	at, dst := wire.BeginReply(dst, id, c.Header.RequestID, wire.Reply{Flags: wire.AwaitCapable, Cursor: open, From: c.old.from})
	count := int32(0)
	batch := batchOf(cursor)
	for it := wire.Elements(batch.Array()); it.Next(); count++ {
		dst = append(dst, it.Value...)
	}
	return wire.EndReply(dst, at, count)
}

// batchOf returns the documents in the cursor of a reply.
func batchOf(cursor []byte) wire.Element {
	if first := field(cursor, "firstBatch"); first.Type != 0 {
		return first
	}
	return field(cursor, "nextBatch")
}

// appendOldError writes an error as the reply to a find in an OP_QUERY or to an OP_GET_MORE. That of a cursor that does not exist is a flag.
func (c *command) appendOldError(dst []byte, id int32, document []byte) []byte {
	code, text := field(document, "code"), field(document, "errmsg")
	n, _ := code.Int64()
	if n == codeCursorNotFound && c.Name == "getMore" {
		at, dst := wire.BeginReply(dst, id, c.Header.RequestID, wire.Reply{Flags: wire.AwaitCapable | wire.CursorNotFound})
		return wire.EndReply(dst, at, 0)
	}
	at, failed := wire.BeginDocument(nil)
	failed = wire.AppendString(failed, "$err", string(text.Text()))
	failed = wire.AppendInt32(failed, "code", int32(n))
	failed = wire.EndDocument(wire.AppendDouble(failed, "ok", 0), at)
	return wire.AppendFailedReply(dst, id, c.Header.RequestID, failed)
}

// silent reports whether the client gets no reply.
func (c *command) silent() bool { return c.Unanswered() || c.old != nil && c.old.kill }

package canned

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// BatchSize is the number of documents in the batch of a collection of batches.
const BatchSize = 1000

// The collections in which every find finds a whole batch.
const (
	FlatBatch   = "flat"   // of documents as Stored returns
	NestedBatch = "nested" // of orders, some 490 bytes each
	LargeBatch  = "large"  // of one document, about as large as one can be
)

// Imports is the collection in which every insert inserts a whole batch.
const Imports = "imports"

// batchReply returns the body of the reply to a find in a collection of batches, or nil if it is another collection.
func batchReply(collection string) []byte {
	switch collection {
	case FlatBatch:
		return cursorReply(collection, BatchSize, Stored())
	case NestedBatch:
		return cursorReply(collection, BatchSize, Order())
	case LargeBatch:
		return cursorReply(collection, 1, largeDocument())
	default:
		return nil
	}
}

// cursorReply returns a find's reply with n times the same document.
func cursorReply(collection string, n int, stored []byte) []byte {
	return document(func(b []byte) []byte {
		cursor, b := wire.BeginEmbedded(b, "cursor")
		batch, b := wire.BeginArray(b, "firstBatch")
		for i := range n {
			b = wire.AppendDocument(b, wire.ArrayKey(i), stored)
		}
		b = wire.EndDocument(b, batch)
		b = wire.AppendInt64(b, "id", 0)
		b = wire.AppendString(b, "ns", Database+"."+collection)
		b = wire.EndDocument(b, cursor)
		return appendTimes(wire.AppendDouble(b, "ok", 1))
	})
}

// Order returns the nested document: documents in it, an array of documents, an array of strings, dates, numbers.
func Order() []byte {
	return document(func(b []byte) []byte {
		b = wire.AppendObjectID(b, "_id", ID)
		b = wire.AppendString(b, "customer", "Ada Lovelace")
		b = appendAddress(b, "address", "1 Main Street")
		b = appendAddress(b, "billing", "2 Side Street")
		lines, b := wire.BeginArray(b, "lines")
		for i, product := range []string{"engine", "wheel", "card"} {
			at, line := wire.BeginEmbedded(b, wire.ArrayKey(i))
			line = wire.AppendString(line, "product", product)
			line = wire.AppendInt32(line, "count", int32(i+1))
			b = wire.EndDocument(wire.AppendDouble(line, "price", 12.25), at)
		}
		b = wire.AppendStrings(wire.EndDocument(b, lines), "tags", []string{"first", "paid"})
		extra, b := wire.BeginEmbedded(b, "extra")
		b = wire.AppendString(b, "gift", "no")
		b = wire.EndDocument(wire.AppendString(b, "note", "by the door"), extra)
		b = wire.AppendDateTime(b, "created", second*1000)
		b = wire.AppendDateTime(b, "shipped", second*1000+500)
		b = wire.AppendInt64(b, "version", 3)
		b = wire.AppendDouble(b, "total", 1914.5)
		return wire.AppendInt32(b, "priority", 2)
	})
}

// largeDocument returns a document of somewhat less than 16 MiB.
func largeDocument() []byte {
	return document(func(b []byte) []byte { return wire.AppendBinary(b, "bytes", 0, make([]byte, 16<<20-100)) })
}

func appendAddress(b []byte, key, street string) []byte {
	at, b := wire.BeginEmbedded(b, key)
	b = wire.AppendString(b, "street", street)
	b = wire.AppendString(b, "city", "London")
	return wire.EndDocument(wire.AppendString(b, "zip", "W1A 1AA"), at)
}

// collection returns the collection that a command names as the value of its first key.
func collection(request []byte) string {
	const start = wire.HeaderLength + 4 + 1 // flags, kind
	it := wire.Elements(request[start:])
	if !it.Next() {
		return ""
	}
	return string(it.Text())
}

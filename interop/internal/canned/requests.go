package canned

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The names that the requests use.
const (
	Database   = "bench"
	Collection = "accounts"
)

var (
	electionID = bson.ObjectID{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1}
	// ID is the stored document's.
	ID = bson.ObjectID{0x68, 0x4f, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
)

// Stored returns the document that every find finds: six fields and some hundred bytes.
func Stored() []byte {
	return document(func(b []byte) []byte {
		return appendFields(wire.AppendObjectID(b, "_id", ID))
	})
}

func appendFields(b []byte) []byte {
	b = wire.AppendString(b, "name", "Ada Lovelace")
	b = wire.AppendString(b, "email", "ada@example.org")
	b = wire.AppendInt32(b, "age", 36)
	b = wire.AppendDouble(b, "balance", 1815.5)
	return wire.AppendDateTime(b, "created", second*1000)
}

// FindRequest returns the bytes of the find that a driver sends for a FindOne by _id.
func FindRequest() []byte {
	return message(document(func(b []byte) []byte {
		b = wire.AppendString(b, "find", Collection)
		filter, b := wire.BeginEmbedded(b, "filter")
		b = wire.EndDocument(wire.AppendObjectID(b, "_id", ID), filter)
		b = wire.AppendInt64(b, "limit", 1)
		b = wire.AppendBool(b, "singleBatch", true)
		return appendSession(b)
	}))
}

// BatchRequest returns the bytes of a find for the batch of a collection.
func BatchRequest(collection string) []byte {
	return message(document(func(b []byte) []byte { return appendSession(wire.AppendString(b, "find", collection)) }))
}

// PingRequest returns the bytes of the ping that a driver sends.
func PingRequest() []byte {
	return message(document(func(b []byte) []byte { return appendSession(wire.AppendInt32(b, "ping", 1)) }))
}

// InsertRequest returns the bytes of the insert that a driver sends for an InsertOne.
func InsertRequest() []byte {
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	b = append(b, document(func(b []byte) []byte {
		b = wire.AppendString(b, "insert", Collection)
		b = wire.AppendBool(b, "ordered", true)
		b = wire.AppendInt64(b, "txnNumber", 1)
		return appendSession(b)
	})...)
	documents, b := wire.BeginSequence(b, "documents")
	b = wire.EndSequence(append(b, Stored()...), documents)
	return wire.EndMessage(b, at)
}

func appendSession(b []byte) []byte {
	lsid, b := wire.BeginEmbedded(b, "lsid")
	b = wire.EndDocument(wire.AppendBinary(b, "id", 4, make([]byte, 16)), lsid)
	b = wire.AppendDocument(b, "$clusterTime", clusterTime())
	return wire.AppendString(b, "$db", Database)
}

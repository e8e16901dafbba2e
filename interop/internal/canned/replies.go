package canned

import (
	"bytes"
	"encoding/binary"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	setName = "canned"
	// second and counter make the one time that this server ever has.
	second, counter = 1_750_000_000, 7
)

// replies are one connection's: their responseTo is written into them.
type replies struct {
	hello, oldHello, find, insert, ok, unknown []byte
	batches                                    map[string][]byte // by collection; made when they are asked for
}

func newReplies(address string) *replies {
	hello := helloDocument(address)
	return &replies{
		hello:    message(hello),
		oldHello: wire.AppendReply(nil, 1, 0, hello),
		find:     message(cursorReply(Collection, 1, Stored())),
		batches:  make(map[string][]byte),
		insert:   message(insertReply()),
		ok:       message(document(func(b []byte) []byte { return appendTimes(wire.AppendDouble(b, "ok", 1)) })),
		unknown:  message(document(appendUnknown)),
	}
}

// to returns the reply to a request, ready to be sent.
func (r *replies) to(request []byte) []byte {
	reply := r.choose(request)
	copy(reply[8:12], request[4:8])
	return reply
}

func (r *replies) choose(request []byte) []byte {
	if int32(binary.LittleEndian.Uint32(request[12:])) == wire.OpQuery {
		return r.oldHello
	}
	switch string(command(request)) {
	case "find":
		return r.toFind(collection(request))
	case "insert":
		return r.insert
	case "hello", "isMaster", "ismaster":
		return r.hello
	case "ping", "endSessions":
		return r.ok
	default:
		return r.unknown
	}
}

func (r *replies) toFind(collection string) []byte {
	if collection == Collection {
		return r.find
	}
	batch, made := r.batches[collection]
	if !made {
		batch = batchReply(collection)
		r.batches[collection] = batch
	}
	if batch == nil {
		return r.unknown
	}
	return batch
}

// command returns the first key of an OP_MSG whose first section is its body, as every driver sends it.
func command(request []byte) []byte {
	const key = wire.HeaderLength + 4 + 1 + 4 + 1 // flags, kind, document length, type
	if len(request) < key {
		return nil
	}
	name, _, _ := bytes.Cut(request[key:], []byte{0})
	return name
}

func message(body []byte) []byte {
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	return wire.EndMessage(append(b, body...), at)
}

func document(appendTo func([]byte) []byte) []byte {
	at, b := wire.BeginDocument(nil)
	return wire.EndDocument(appendTo(b), at)
}

func helloDocument(address string) []byte {
	return document(func(b []byte) []byte {
		b = wire.AppendBool(b, "helloOk", true)
		b = wire.AppendBool(b, "isWritablePrimary", true)
		b = wire.AppendBool(b, "ismaster", true)
		b = wire.AppendBool(b, "secondary", false)
		b = wire.AppendStrings(b, "hosts", []string{address})
		b = wire.AppendString(b, "setName", setName)
		b = wire.AppendInt32(b, "setVersion", 1)
		b = wire.AppendString(b, "primary", address)
		b = wire.AppendString(b, "me", address)
		b = wire.AppendObjectID(b, "electionId", electionID)
		b = wire.AppendInt32(b, "maxBsonObjectSize", 16<<20)
		b = wire.AppendInt32(b, "maxMessageSizeBytes", wire.MaxMessageLength)
		b = wire.AppendInt32(b, "maxWriteBatchSize", 100_000)
		b = wire.AppendDateTime(b, "localTime", second*1000)
		b = wire.AppendInt32(b, "logicalSessionTimeoutMinutes", 30)
		b = wire.AppendInt32(b, "connectionId", 1)
		b = wire.AppendInt32(b, "minWireVersion", 0)
		b = wire.AppendInt32(b, "maxWireVersion", 21)
		b = wire.AppendBool(b, "readOnly", false)
		return appendTimes(wire.AppendDouble(b, "ok", 1))
	})
}

func insertReply() []byte {
	return document(func(b []byte) []byte {
		b = wire.AppendInt32(b, "n", 1)
		b = wire.AppendObjectID(b, "electionId", electionID)
		opTime, b := wire.BeginEmbedded(b, "opTime")
		b = wire.AppendTimestamp(b, "ts", second, counter)
		b = wire.EndDocument(wire.AppendInt64(b, "t", 1), opTime)
		return appendTimes(wire.AppendDouble(b, "ok", 1))
	})
}

func appendUnknown(b []byte) []byte {
	b = wire.AppendDouble(b, "ok", 0)
	b = wire.AppendString(b, "errmsg", "the canned server has no reply for this command")
	b = wire.AppendInt32(b, "code", 59)
	return wire.AppendString(b, "codeName", "CommandNotFound")
}

// appendTimes writes what a member of a replica set ends every reply with.
func appendTimes(b []byte) []byte {
	b = wire.AppendDocument(b, "$clusterTime", clusterTime())
	return wire.AppendTimestamp(b, "operationTime", second, counter)
}

func clusterTime() []byte {
	return document(func(b []byte) []byte {
		b = wire.AppendTimestamp(b, "clusterTime", second, counter)
		signature, b := wire.BeginEmbedded(b, "signature")
		b = wire.AppendBinary(b, "hash", 0, make([]byte, 20))
		return wire.EndDocument(wire.AppendInt64(b, "keyId", 0), signature)
	})
}

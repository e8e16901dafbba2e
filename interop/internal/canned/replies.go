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
	with             wire.Compressor // of the requests and of the replies to commands that may be compressed
	codec            wire.Codec
	in               []byte // the last request, decompressed
	hello, oldHello  []byte
	find, ok         []byte
	insert, imported []byte
	update, unknown  []byte
	batches          map[string][]byte // by collection; made when they are asked for
	download         download
}

func newReplies(address string, with wire.Compressor) *replies {
	hello := helloDocument(address, with)
	r := &replies{with: with, batches: make(map[string][]byte)}
	r.hello = message(hello)
	r.oldHello = wire.AppendReply(nil, 1, 0, hello)
	r.find = r.made(cursorReply(Collection, 1, Stored()))
	r.insert = r.made(writeReply(1))
	r.imported = r.made(writeReply(BatchSize))
	r.update = r.made(updateReply())
	r.ok = r.made(document(func(b []byte) []byte { return appendTimes(wire.AppendDouble(b, "ok", 1)) }))
	r.unknown = r.made(document(appendUnknown))
	return r
}

// made returns the reply with this body as it is sent.
func (r *replies) made(body []byte) []byte {
	reply := message(body)
	if r.with == wire.NoCompressor {
		return reply
	}
	compressed, err := r.codec.Compress(nil, reply, r.with)
	if err != nil {
		panic(err) // the bytes are ours
	}
	return compressed
}

// to returns the reply to a request, ready to be sent.
func (r *replies) to(request []byte) ([]byte, error) {
	id := request[4:8]
	if opCode(request) == wire.OpCompressed {
		var err error
		if r.in, _, err = r.codec.Decompress(r.in[:0], request, requestBuffer); err != nil {
			return nil, err
		}
		request = r.in
	}
	reply := r.choose(request)
	copy(reply[8:12], id)
	return reply, nil
}

func opCode(message []byte) int32 { return int32(binary.LittleEndian.Uint32(message[12:])) }

func (r *replies) choose(request []byte) []byte {
	if opCode(request) == wire.OpQuery {
		return r.oldHello
	}
	switch string(command(request)) {
	case "find":
		return r.toFind(request)
	case "getMore":
		return r.toMore(request)
	case "insert":
		switch collection(request) {
		case Imports:
			return r.imported
		case chunks:
			return r.made(writeReply(inserted(request)))
		}
		return r.insert
	case "update":
		return r.update
	case "hello", "isMaster", "ismaster":
		return r.hello
	case "ping", "commitTransaction", "abortTransaction", "endSessions":
		return r.ok
	default:
		return r.unknown
	}
}

func (r *replies) toFind(request []byte) []byte {
	collection := collection(request)
	switch collection {
	case Collection:
		return r.find
	case files:
		return r.toFile(request)
	case chunks:
		return r.toChunks(request)
	}
	batch, made := r.batches[collection]
	if !made {
		if body := batchReply(collection); body != nil {
			batch = r.made(body)
		}
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

func helloDocument(address string, with wire.Compressor) []byte {
	return document(func(b []byte) []byte {
		if with == wire.Zstd {
			b = wire.AppendStrings(b, "compression", []string{"zstd"})
		}
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

// writeReply returns the reply to a write of n statements.
func writeReply(n int32) []byte {
	return document(func(b []byte) []byte { return appendWriteResult(wire.AppendInt32(b, "n", n)) })
}

func updateReply() []byte {
	return document(func(b []byte) []byte {
		return appendWriteResult(wire.AppendInt32(wire.AppendInt32(b, "n", 1), "nModified", 1))
	})
}

// appendWriteResult writes what follows the counts in the reply to a write.
func appendWriteResult(b []byte) []byte {
	b = wire.AppendObjectID(b, "electionId", electionID)
	opTime, b := wire.BeginEmbedded(b, "opTime")
	b = wire.AppendTimestamp(b, "ts", second, counter)
	b = wire.EndDocument(wire.AppendInt64(b, "t", 1), opTime)
	return appendTimes(wire.AppendDouble(b, "ok", 1))
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

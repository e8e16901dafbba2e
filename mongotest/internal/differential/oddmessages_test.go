package differential

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// oddMessages are requests for which a document is not enough. What is written without an answer goes to a collection that nothing reads.
var oddMessages = []oddRequest{
	{name: "a sequence", messages: one(0, body(`{"insert": "c"}`), sequenceOf("documents", `{"_id": 10}`, `{"_id": 11}`))},
	{name: "a sequence before the body", messages: one(0, sequenceOf("documents", `{"_id": 10}`), body(`{"insert": "c"}`))},
	{name: "an empty sequence", messages: one(0, body(`{"insert": "c"}`), sequenceOf("documents"))},
	{name: "a sequence that repeats a field", messages: one(0, body(`{"insert": "c", "documents": [{"_id": 12}]}`), sequenceOf("documents", `{"_id": 10}`))},
	{name: "a sequence twice", messages: one(0, body(`{"insert": "c"}`), sequenceOf("documents", `{"_id": 10}`), sequenceOf("documents", `{"_id": 13}`))},
	{name: "a sequence beside a field", messages: one(0, body(`{"insert": "c", "documents": [{"_id": 12}]}`), sequenceOf("x", `{"_id": 10}`))},
	{name: "a sequence for a document", messages: one(0, body(`{"find": "c"}`), sequenceOf("filter", `{"_id": 10}`))},
	{name: "a sequence of updates", messages: one(0, body(`{"update": "c"}`), sequenceOf("updates", `{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}`))},
	{name: "a sequence of deletes", messages: one(0, body(`{"delete": "c"}`), sequenceOf("deletes", `{"q": {}, "limit": 0}`))},
	{name: "a sequence whose name has a dot", messages: one(0, body(`{"insert": "c"}`), sequenceOf("a.b", `{"_id": 10}`))},
	{name: "a pipeline as a sequence", messages: one(0, body(`{"aggregate": "c", "cursor": {}}`), sequenceOf("pipeline", `{"$match": {"_id": 1}}`))},
	{name: "two bodies", messages: one(0, body(`{"find": "c"}`), body(`{"find": "c"}`))},
	{name: "no body", messages: one(0, sequenceOf("documents", `{"_id": 10}`))},
	{name: "a section of kind 2", messages: one(0, body(`{"find": "c"}`), bytesOf(2, 1, 0))},
	{name: "a sequence that ends too early", messages: one(0, body(`{"insert": "c"}`), changed(sequenceOf("documents", `{"_id": 10}`), func(b []byte) []byte { return b[:len(b)-5] }))},

	{name: "an unanswered write", messages: one(wire.MoreToCome, body(`{"insert": "unanswered", "documents": [{}], "writeConcern": {"w": 0}}`))},
	{name: "an unanswered write without w: 0", messages: one(wire.MoreToCome, body(`{"insert": "unanswered", "documents": [{}]}`))},
	{name: "an unanswered find", messages: one(wire.MoreToCome, body(`{"find": "c"}`))},
	{name: "an unanswered ping", messages: one(wire.MoreToCome, body(`{"ping": 1}`))},
	{name: "an unanswered command that there is not", messages: one(wire.MoreToCome, body(`{"nothing": 1}`))},
	{name: "the exhaust flag", answer: "ok", reason: flagsOfTheEngine, messages: one(wire.ExhaustAllowed, body(`{"find": "c", "batchSize": 1}`))},
	{name: "a flag that must be known", messages: one(1<<3, body(`{"find": "c"}`))},
	{name: "a flag that need not be known", answer: "ok", reason: flagsOfTheEngine, messages: one(1<<20, body(`{"find": "c"}`))},
	{name: "a checksum", answer: "ok", reason: flagsOfTheEngine, messages: checked(0)},
	{name: "a wrong checksum", messages: checked(1)},
	{name: "a negative requestID", messages: made(func(db string) []byte { return msgWithID(-1, 0, body(`{"find": "c"}`)(db)) })},

	{name: "a document of 190 levels", messages: one(0, body(`{"insert": "c"}`), nested(190))},
	{name: "a body that is too long", messages: one(0, changed(body(`{"find": "c"}`), func(b []byte) []byte { b[1]++; return b }))},
	{name: "a body that is too short", messages: one(0, changed(body(`{"find": "c"}`), func(b []byte) []byte { b[1]--; return b }))},
	{name: "a field of unknown type", messages: one(0, changed(body(`{"find": "c"}`), func(b []byte) []byte { b[5] = 0x55; return b }))},
	{name: "a boolean that is 2", answer: "6", reason: "the engine closes the connection, here the router's, which tells its client so", messages: one(0, changed(body(`{"insert": "unanswered", "documents": [{}], "ordered": true}`), func(b []byte) []byte {
		return bytes.Replace(b, []byte("ordered\x00\x01"), []byte("ordered\x00\x02"), 1)
	}))},

	{name: "an operation that there is not", messages: made(func(db string) []byte { return asOperation(9999, opMsg(0, body(`{"ping": 1}`)(db))) })},
	{name: "a reply", messages: made(func(string) []byte { return wire.AppendReply(nil, oddID, 0, document(bson.D{})) })},
	{name: "OP_QUERY of a command", answer: "ok", reason: "the engine does not set the flag AwaitCapable, as servers do", messages: made(func(db string) []byte {
		return wire.AppendQuery(nil, oddID, 0, db+".$cmd", document(bson.D{{Key: "find", Value: "c"}}))
	})},
	{name: "OP_QUERY of a hello", answer: "ok", reason: "a router is a mongos to its clients, and says so", messages: made(func(string) []byte {
		return wire.AppendQuery(nil, oddID, 0, "admin.$cmd", document(bson.D{{Key: "isMaster", Value: 1}}))
	})},
	{name: "OP_QUERY of documents", answer: "ok", reason: oldMessagesOfTheEngine, messages: made(func(db string) []byte { return wire.AppendQuery(nil, oddID, 0, db+".c", document(bson.D{})) })},
	{name: "OP_KILL_CURSORS", answer: "none", reason: oldMessagesOfTheEngine, messages: made(func(string) []byte { return wire.AppendKillCursors(nil, oddID, []int64{5}) })},
	{name: "a length of 15", messages: made(func(string) []byte { return withLength(15) })},
	{name: "a length of 0", messages: made(func(string) []byte { return withLength(0) })},
	{name: "a length of 48,000,001", messages: made(func(string) []byte { return withLength(48_000_001) })},
}

// The reasons for several of them.
const (
	flagsOfTheEngine       = "the engine closes the connection at a flag that a server knows, or that it need not know"
	oldMessagesOfTheEngine = "the engine knows no messages of drivers of 2014 but commands"
)

// piece is a part of a message for a database.
type piece func(db string) []byte

// one is a request of a single OP_MSG.
func one(flags wire.MsgFlags, pieces ...piece) []oddMessage {
	return made(func(db string) []byte {
		var b []byte
		for _, p := range pieces {
			b = append(b, p(db)...)
		}
		return opMsg(flags, b)
	})
}

func made(message piece) []oddMessage {
	return []oddMessage{func(_ *server, db string) ([]byte, error) { return message(db), nil }}
}

// opMsg returns the message of sections.
func opMsg(flags wire.MsgFlags, sections ...[]byte) []byte {
	return msgWithID(oddID, flags, sections...)
}

func msgWithID(id int32, flags wire.MsgFlags, sections ...[]byte) []byte {
	at, b := wire.BeginMsg(nil, id, 0, flags)
	b = b[:len(b)-1] // each section has its kind
	return wire.EndMessage(append(b, bytes.Join(sections, nil)...), at)
}

// body is a command as a section.
func body(command string) piece {
	return func(db string) []byte {
		d, err := parseCommand(command, db)
		if err != nil {
			panic(err)
		}
		return append([]byte{0}, document(d)...)
	}
}

// sequenceOf is a section of documents.
func sequenceOf(name string, documents ...string) piece {
	return func(string) []byte {
		var b []byte
		for _, text := range documents {
			var d bson.D
			if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
				panic(err)
			}
			b = append(b, document(d)...)
		}
		return wire.AppendSequence(nil, name, b)
	}
}

// nested is a sequence of one document, with documents in each other.
func nested(levels int) piece {
	return func(string) []byte {
		d := bson.D{}
		for range levels {
			d = bson.D{{Key: "a", Value: d}}
		}
		return wire.AppendSequence(nil, "documents", document(d))
	}
}

func bytesOf(b ...byte) piece { return func(string) []byte { return b } }

func changed(p piece, change func([]byte) []byte) piece {
	return func(db string) []byte { return change(p(db)) }
}

// checked is a find with a checksum, which is too high by some number.
func checked(wrong uint32) []oddMessage {
	return made(func(db string) []byte {
		b := opMsg(wire.ChecksumPresent, body(`{"find": "c"}`)(db))
		wire.SetMessageLength(b, len(b)+4)
		return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))+wrong)
	})
}

func asOperation(code uint32, message []byte) []byte {
	binary.LittleEndian.PutUint32(message[12:], code)
	return message
}

// withLength is a ping that says that it has another length.
func withLength(length int) []byte {
	b := opMsg(0, body(`{"ping": 1}`)("admin"))
	wire.SetMessageLength(b, length)
	return b
}

func document(d bson.D) []byte {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

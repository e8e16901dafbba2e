package canned

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The collections of the GridFS bucket. Each _id is that of a file, and its length too, in bytes; all bytes are zero.
const (
	files  = "fs.files"
	chunks = "fs.chunks"
)

// chunkSize is the default of GridFS.
const chunkSize = 255 << 10

// largestBatch is how many bytes of documents MongoDB puts into a batch, and firstBatch how many documents it puts into the first one.
const (
	largestBatch = 16 << 20
	firstBatch   = 101
)

// download is the cursor of a file's chunks.
type download struct {
	length, sent int64
	reply        []byte
}

// toFile replies to a find for the document of a file, or for any.
func (r *replies) toFile(request []byte) []byte {
	length := wanted(request, "_id")
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendInt64(doc, "_id", length)
	doc = wire.AppendInt64(doc, "length", length)
	doc = wire.AppendInt32(doc, "chunkSize", chunkSize)
	doc = wire.AppendDateTime(doc, "uploadDate", second*1000)
	doc = wire.EndDocument(wire.AppendString(doc, "filename", "f"), at)
	return message(cursorReply(files, 1, doc))
}

// toChunks replies to the find for the chunks of a file.
func (r *replies) toChunks(request []byte) []byte {
	length := wanted(request, "files_id")
	r.download = download{length: length, reply: r.download.reply}
	return r.download.next("firstBatch", batchSize(request, firstBatch))
}

// toMore replies to a getMore for the chunks of a file.
func (r *replies) toMore(request []byte) []byte {
	return r.download.next("nextBatch", batchSize(request, largestBatch/chunkSize))
}

// wanted returns the number that the filter has as the value of a field, or as its $eq; 0 if there is none.
func wanted(request []byte, field string) int64 {
	n, ok := lookup(request, "filter", field).Int64OK()
	if !ok {
		n, _ = lookup(request, "filter", field, "$eq").Int64OK()
	}
	return n
}

func batchSize(request []byte, otherwise int) int {
	if n, ok := lookup(request, "batchSize").AsInt64OK(); ok {
		return int(n)
	}
	return otherwise
}

// lookup returns a value of a command.
func lookup(request []byte, path ...string) bson.RawValue {
	const start = wire.HeaderLength + 4 + 1 // flags, kind
	length := binary.LittleEndian.Uint32(request[start:])
	return bson.Raw(request[start : start+int(length)]).Lookup(path...)
}

// next returns the reply with the next batch, of at most n chunks.
func (d *download) next(name string, n int) []byte {
	at, b := wire.BeginMsg(d.reply[:0], 1, 0, 0)
	body, b := wire.BeginDocument(b)
	cursor, b := wire.BeginEmbedded(b, "cursor")
	batch, b := wire.BeginArray(b, name)
	start := len(b)
	for i := 0; i < n && d.sent < d.length && len(b)-start < largestBatch-chunkSize; i++ {
		length := min(d.length-d.sent, chunkSize)
		chunk, doc := wire.BeginEmbedded(b, wire.ArrayKey(i))
		doc = wire.AppendObjectID(doc, "_id", ID)
		doc = wire.AppendInt64(doc, "files_id", d.length)
		doc = wire.AppendInt32(doc, "n", int32(d.sent/chunkSize))
		doc = wire.AppendBinary(doc, "data", 0, zeros[:length])
		b = wire.EndDocument(doc, chunk)
		d.sent += length
	}
	b = wire.EndDocument(b, batch)
	id := int64(0)
	if d.sent < d.length {
		id = 1
	}
	b = wire.AppendInt64(b, "id", id)
	b = wire.AppendString(b, "ns", Database+"."+chunks)
	b = wire.EndDocument(b, cursor)
	b = wire.EndDocument(appendTimes(wire.AppendDouble(b, "ok", 1)), body)
	d.reply = wire.EndMessage(b, at)
	return d.reply
}

var zeros [chunkSize]byte

// inserted returns how many documents the section of an insert has.
func inserted(request []byte) int32 {
	const body = wire.HeaderLength + 4 + 1 // flags, kind
	at := body + int(binary.LittleEndian.Uint32(request[body:])) + 1
	end := at + int(binary.LittleEndian.Uint32(request[at:]))
	n := int32(0)
	for at += 4 + len("documents") + 1; at < end; n++ {
		at += int(binary.LittleEndian.Uint32(request[at:]))
	}
	return n
}

package wire

import (
	"bytes"
	"encoding/binary"
)

// Query is an OP_QUERY. A client sends its first hello in one, because every server understands it.
type Query struct {
	Flags      uint32
	Collection []byte
	Skip       int32
	Return     int32
	Document   []byte
}

// SecondaryOk is the OP_QUERY flag that lets a secondary answer.
const SecondaryOk uint32 = 1 << 2

// AppendQuery writes a whole OP_QUERY that asks for one document.
func AppendQuery(dst []byte, requestID int32, flags uint32, collection string, document []byte) []byte {
	at, dst := beginMessage(dst, requestID, 0, OpQuery)
	dst = binary.LittleEndian.AppendUint32(dst, flags)
	dst = append(dst, collection...)
	dst = append(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, 0xffffffff)
	return EndMessage(append(dst, document...), at)
}

// ParseQuery reads an OP_QUERY, header included. A field selector, if there is one, is ignored.
func ParseQuery(b []byte) (Query, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return Query{}, err
	}
	if h.OpCode != OpQuery || int(h.Length) != len(b) || len(b) < HeaderLength+4 {
		return Query{}, malformed("%d bytes that are not an OP_QUERY", len(b))
	}
	q := Query{Flags: binary.LittleEndian.Uint32(b[HeaderLength:])}
	rest := b[HeaderLength+4:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 || len(rest) < end+9 {
		return Query{}, malformed("an OP_QUERY without its collection or its counts")
	}
	q.Collection = rest[:end]
	q.Skip = int32(binary.LittleEndian.Uint32(rest[end+1:]))
	q.Return = int32(binary.LittleEndian.Uint32(rest[end+5:]))
	rest = rest[end+9:]
	n, err := DocumentLength(rest)
	if err != nil {
		return Query{}, err
	}
	q.Document = rest[:n:n]
	return q, nil
}

// The flags of an OP_REPLY.
const (
	queryFailure uint32 = 1 << 1
	awaitCapable uint32 = 1 << 3 // set by every server since 1.6
)

// AppendReply writes a whole OP_REPLY that holds one document.
func AppendReply(dst []byte, requestID, responseTo int32, document []byte) []byte {
	return appendReply(dst, requestID, responseTo, awaitCapable, document)
}

// AppendFailedReply is AppendReply with the flag QueryFailure, for a document that describes an error.
func AppendFailedReply(dst []byte, requestID, responseTo int32, document []byte) []byte {
	return appendReply(dst, requestID, responseTo, awaitCapable|queryFailure, document)
}

func appendReply(dst []byte, requestID, responseTo int32, flags uint32, document []byte) []byte {
	at, dst := beginMessage(dst, requestID, responseTo, OpReply)
	dst = binary.LittleEndian.AppendUint32(dst, flags)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, 1)
	return EndMessage(append(dst, document...), at)
}

// ParseReply reads an OP_REPLY, header included, and returns its only document.
func ParseReply(b []byte) ([]byte, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return nil, err
	}
	if h.OpCode != OpReply || int(h.Length) != len(b) || len(b) < HeaderLength+20 {
		return nil, malformed("%d bytes that are not an OP_REPLY", len(b))
	}
	if count := int32(binary.LittleEndian.Uint32(b[HeaderLength+16:])); count != 1 {
		return nil, malformed("an OP_REPLY with %d documents instead of one", count)
	}
	doc := b[HeaderLength+20:]
	n, err := DocumentLength(doc)
	if err != nil {
		return nil, err
	}
	return doc[:n:n], nil
}

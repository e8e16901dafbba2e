package wire

import (
	"bytes"
	"encoding/binary"
)

// Query is an OP_QUERY: a query, or a command if its collection is $cmd. A client sends its first hello in one, because every server
// understands it.
type Query struct {
	Flags      uint32
	Collection []byte // with its database: "db.collection"
	Skip       int32
	Return     int32 // 0 means that the server chooses
	Document   []byte
	Selector   []byte // the fields to return; nil if there is none
}

// The flags of an OP_QUERY.
const (
	TailableCursor  uint32 = 1 << 1
	SecondaryOk     uint32 = 1 << 2 // a secondary may answer
	OplogReplay     uint32 = 1 << 3
	NoCursorTimeout uint32 = 1 << 4
	AwaitData       uint32 = 1 << 5
	Exhaust         uint32 = 1 << 6
	Partial         uint32 = 1 << 7
)

// AppendQuery writes a whole OP_QUERY that asks for one document.
func AppendQuery(dst []byte, requestID int32, flags uint32, collection string, document []byte) []byte {
	q := Query{Flags: flags, Collection: []byte(collection), Return: -1, Document: document}
	return q.Append(dst, requestID)
}

// Append writes the whole message.
func (q *Query) Append(dst []byte, requestID int32) []byte {
	at, dst := beginMessage(dst, requestID, 0, OpQuery)
	dst = binary.LittleEndian.AppendUint32(dst, q.Flags)
	dst = append(append(dst, q.Collection...), 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(q.Skip))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(q.Return))
	dst = append(dst, q.Document...)
	return EndMessage(append(dst, q.Selector...), at)
}

// ParseQuery reads an OP_QUERY, header included.
func ParseQuery(b []byte) (Query, error) {
	rest, err := oldBody(b, OpQuery, "OP_QUERY")
	if err != nil {
		return Query{}, err
	}
	q := Query{Flags: binary.LittleEndian.Uint32(rest)}
	if q.Collection, rest, err = cutCollection(rest[4:], 8); err != nil {
		return Query{}, err
	}
	q.Skip = int32(binary.LittleEndian.Uint32(rest))
	q.Return = int32(binary.LittleEndian.Uint32(rest[4:]))
	if q.Document, rest, err = cutDocument(rest[8:]); err != nil {
		return Query{}, err
	}
	if len(rest) == 0 {
		return q, nil
	}
	if q.Selector, rest, err = cutDocument(rest); err != nil {
		return Query{}, err
	}
	if len(rest) > 0 {
		return Query{}, malformed("%d bytes after the field selector of an OP_QUERY", len(rest))
	}
	return q, nil
}

// oldBody returns what follows the header of an old message, which are at least the four bytes of its first number.
func oldBody(b []byte, opCode int32, name string) ([]byte, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return nil, err
	}
	if h.OpCode != opCode || int(h.Length) != len(b) || len(b) < HeaderLength+4 {
		return nil, malformed("%d bytes that are not an %s", len(b), name)
	}
	return b[HeaderLength:], nil
}

// cutCollection cuts the name of a collection off b. At least counts bytes must follow it.
func cutCollection(b []byte, counts int) (name, rest []byte, err error) {
	end := bytes.IndexByte(b, 0)
	if end < 0 || len(b) < end+1+counts {
		return nil, nil, malformed("an old message without its collection or its counts")
	}
	return b[:end], b[end+1:], nil
}

// cutDocument cuts the document at the start of b off.
func cutDocument(b []byte) (document, rest []byte, err error) {
	n, err := DocumentLength(b)
	if err != nil {
		return nil, nil, err
	}
	return b[:n:n], b[n:], nil
}

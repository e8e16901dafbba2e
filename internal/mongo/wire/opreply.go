package wire

import (
	"encoding/binary"
	"iter"
)

// Reply is an OP_REPLY: the answer to an OP_QUERY or an OP_GET_MORE.
type Reply struct {
	Flags     uint32
	Cursor    int64  // 0 if the server has no more
	From      int32  // how many documents of the cursor came before
	Count     int32  // of the documents
	Documents []byte // one after the other
}

// The flags of an OP_REPLY.
const (
	CursorNotFound uint32 = 1 << 0
	QueryFailure   uint32 = 1 << 1 // the only document tells of an error, in its field $err
	AwaitCapable   uint32 = 1 << 3 // set by every server since 1.6
)

// replyHead is the size in bytes of what is between the header and the documents.
const replyHead = 20

// BeginReply begins an OP_REPLY with the flags, the cursor and the start that r has. The caller appends the documents, and calls EndReply
// with the returned index.
func BeginReply(dst []byte, requestID, responseTo int32, r Reply) (int, []byte) {
	at, dst := beginMessage(dst, requestID, responseTo, OpReply)
	dst = binary.LittleEndian.AppendUint32(dst, r.Flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Cursor))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.From))
	return at, binary.LittleEndian.AppendUint32(dst, 0)
}

// EndReply sets the length of the OP_REPLY that begins at index, and the number of its documents.
func EndReply(dst []byte, index int, count int32) []byte {
	binary.LittleEndian.PutUint32(dst[index+HeaderLength+replyHead-4:], uint32(count))
	return EndMessage(dst, index)
}

// AppendReply writes a whole OP_REPLY that holds one document.
func AppendReply(dst []byte, requestID, responseTo int32, document []byte) []byte {
	return appendReply(dst, requestID, responseTo, AwaitCapable, document)
}

// AppendFailedReply is AppendReply with the flag QueryFailure, for a document that describes an error.
func AppendFailedReply(dst []byte, requestID, responseTo int32, document []byte) []byte {
	return appendReply(dst, requestID, responseTo, AwaitCapable|QueryFailure, document)
}

func appendReply(dst []byte, requestID, responseTo int32, flags uint32, document []byte) []byte {
	at, dst := BeginReply(dst, requestID, responseTo, Reply{Flags: flags})
	return EndReply(append(dst, document...), at, 1)
}

// ParseReply reads an OP_REPLY, header included, and returns its only document.
func ParseReply(b []byte) ([]byte, error) {
	r, err := parseReplyHead(b)
	if err != nil {
		return nil, err
	}
	if r.Count != 1 {
		return nil, malformed("an OP_REPLY with %d documents instead of one", r.Count)
	}
	document, _, err := cutDocument(r.Documents)
	return document, err
}

// ParseReplies reads an OP_REPLY, header included, with any number of documents.
func ParseReplies(b []byte) (Reply, error) {
	r, err := parseReplyHead(b)
	if err != nil {
		return Reply{}, err
	}
	n := int32(0)
	for rest := r.Documents; len(rest) > 0; n++ {
		if _, rest, err = cutDocument(rest); err != nil {
			return Reply{}, err
		}
	}
	if n != r.Count {
		return Reply{}, malformed("an OP_REPLY with %d documents that says it has %d", n, r.Count)
	}
	return r, nil
}

// parseReplyHead reads all but the documents.
func parseReplyHead(b []byte) (Reply, error) {
	rest, err := oldBody(b, OpReply, "OP_REPLY")
	switch {
	case err != nil:
		return Reply{}, err
	case len(rest) < replyHead:
		return Reply{}, malformed("an OP_REPLY of %d bytes, without its counts", len(b))
	}
	return Reply{
		Flags:     binary.LittleEndian.Uint32(rest),
		Cursor:    int64(binary.LittleEndian.Uint64(rest[4:])),
		From:      int32(binary.LittleEndian.Uint32(rest[12:])),
		Count:     int32(binary.LittleEndian.Uint32(rest[16:])),
		Documents: rest[replyHead:],
	}, nil
}

// All returns the documents of a reply that ParseReplies returned.
func (r *Reply) All() iter.Seq[[]byte] { return Sequence{Documents: r.Documents}.All() }

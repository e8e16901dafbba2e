package wire

import (
	"bytes"
	"iter"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ClientMessage is a client's message as a server reads it: an OP_MSG, or an OP_QUERY with a first hello. Its parts alias
// the bytes that it was read from.
type ClientMessage struct {
	Header    Header
	Flags     MsgFlags // of an OP_MSG; 0 for an OP_QUERY
	Name      string   // of the command, as the client wrote it
	Database  string   // $db, or the database in an OP_QUERY's collection; "" if there is neither
	Body      []byte   // the command's document, without the document sequences
	Sequences []Sequence
}

// ParseClientMessage reads a client's message, header included. An error matches ErrMalformed. Only the lengths of the
// command's fields up to $db are checked.
func ParseClientMessage(b []byte) (ClientMessage, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return ClientMessage{}, err
	}
	r := ClientMessage{Header: h}
	switch h.OpCode {
	case OpMsg:
		m, err := ParseMsg(b)
		if err != nil {
			return ClientMessage{}, err
		}
		r.Flags, r.Body, r.Sequences = m.Flags, m.Body, m.Sequences
	case OpQuery:
		q, err := ParseQuery(b)
		if err != nil {
			return ClientMessage{}, err
		}
		db, ok := bytes.CutSuffix(q.Collection, []byte(".$cmd"))
		if !ok {
			return ClientMessage{}, malformed("an OP_QUERY on %q, which is not a command collection", q.Collection)
		}
		return CommandIn(h, string(db), q.Document)
	default:
		return ClientMessage{}, malformed("operation code %d instead of a request", h.OpCode)
	}
	return r, r.readNames()
}

// CommandIn returns the command that an old message has, or means: body, for a database.
func CommandIn(h Header, database string, body []byte) (ClientMessage, error) {
	r := ClientMessage{Header: h, Database: database, Body: body}
	err := r.readNames()
	return r, err
}

// readNames finds the command's name and its $db.
func (r *ClientMessage) readNames() error {
	it := Elements(r.Body)
	if !it.Next() {
		return malformed("a command without a name")
	}
	r.Name = string(it.Key)
	for it.Next() {
		if string(it.Key) == "$db" {
			r.Database = string(it.Text())
			break
		}
	}
	return nil
}

// Command returns the whole command as one document, see Fold.
func (r *ClientMessage) Command() []byte { return Fold(r.Body, r.Sequences) }

// Unanswered reports whether the client expects no reply.
func (r *ClientMessage) Unanswered() bool { return r.Flags&MoreToCome != 0 }

// AppendReply writes a whole message that answers the request with a document, in the form that the request needs.
func (r *ClientMessage) AppendReply(dst []byte, requestID int32, document []byte) []byte {
	if r.Header.OpCode == OpQuery {
		return AppendReply(dst, requestID, r.Header.RequestID, document)
	}
	at, dst := BeginMsg(dst, requestID, r.Header.RequestID, 0)
	return EndMessage(append(dst, document...), at)
}

// Fold returns a command as one document: the fields of its body, then each document sequence as an array. Without
// sequences it is body itself, else a new document. Body and sequences must be those that ParseMsg returned.
func Fold(body []byte, sequences []Sequence) []byte {
	if len(sequences) == 0 {
		return body
	}
	const arrayFrame, elementHead = 7, 9 // bytes; the key of an element has at most seven digits
	size := len(body)
	for _, s := range sequences {
		n, _ := s.Count()
		size += arrayFrame + len(s.Identifier) + elementHead*n + len(s.Documents)
	}
	dst := append(make([]byte, 0, size), body[:len(body)-1]...)
	for _, s := range sequences {
		at, array := BeginArray(dst, string(s.Identifier))
		i := int64(0)
		for document := range s.All() {
			array = append(array, byte(bson.TypeEmbeddedDocument))
			array = append(strconv.AppendInt(array, i, 10), 0)
			array = append(array, document...)
			i++
		}
		dst = EndDocument(array, at)
	}
	return EndDocument(dst, 0)
}

// All returns the documents of a sequence that ParseMsg returned.
func (s Sequence) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := s.Documents; len(rest) > 0; {
			n, err := DocumentLength(rest)
			if err != nil || !yield(rest[:n:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

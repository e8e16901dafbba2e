package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// incoming is a client's message that is only looked at: by a proxy that passes it on, or a pipe that plays its script.
type incoming struct {
	Request
	query      bool // an OP_QUERY, which an OP_REPLY answers
	unanswered bool // the client wants no reply
}

// describe reads a message as far as middleware needs.
func describe(message []byte) (*incoming, error) {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return nil, err
	}
	in := &incoming{Request: Request{RequestID: h.RequestID, TxnNumber: -1}}
	switch h.OpCode {
	case wire.OpMsg:
		m, err := wire.ParseMsg(message)
		if err != nil {
			return nil, err
		}
		in.describe(m.Body)
		in.Body, in.unanswered = folded(m.Body, m.Sequences), m.Flags&wire.MoreToCome != 0
	case wire.OpQuery:
		q, err := wire.ParseQuery(message)
		if err != nil {
			return nil, err
		}
		in.describe(q.Document)
		in.Body, in.query = bson.Raw(q.Document), true
	default:
		return nil, wire.ErrMalformed
	}
	return in, nil
}

// describe fills in what the command's own fields tell.
func (r *Request) describe(body []byte) {
	it := wire.Elements(body)
	for it.Next() {
		switch {
		case r.Command == "":
			r.Command = string(it.Key)
			s := specs[r.Command]
			r.Application = s == nil || !s.service
		case string(it.Key) == "$db":
			r.Database = string(it.Text())
		case string(it.Key) == "lsid":
			r.LSID = bson.Raw(it.Document())
		case string(it.Key) == "txnNumber":
			if n, ok := it.Int64(); ok {
				r.TxnNumber = n
			}
		}
	}
}

func isGreeting(command string) bool {
	s := specs[command]
	return s != nil && s.greeting
}

// message returns a reply as a message that answers in, with an id of its own.
func (in *incoming) message(r *Reply, id int32) []byte {
	body := []byte(r.Body)
	if r.Error != nil {
		body = r.Error.document()
	}
	if in.query {
		return wire.AppendReply(nil, id, in.RequestID, body)
	}
	at, dst := wire.BeginMsg(nil, id, in.RequestID, 0)
	return wire.EndMessage(append(dst, body...), at)
}

// document returns the error as the body of a reply.
func (e *CommandError) document() []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDouble(dst, "ok", 0)
	dst = wire.AppendString(dst, "errmsg", e.Message)
	dst = wire.AppendInt32(dst, "code", e.Code)
	dst = wire.AppendString(dst, "codeName", e.name())
	if len(e.Labels) > 0 {
		dst = wire.AppendStrings(dst, "errorLabels", e.Labels)
	}
	return wire.EndDocument(dst, at)
}

// body returns the document of a server's reply, nil if it has none.
func body(message []byte) bson.Raw {
	if m, err := wire.ParseMsg(message); err == nil {
		return bson.Raw(m.Body)
	}
	doc, _ := wire.ParseReply(message)
	return bson.Raw(doc)
}

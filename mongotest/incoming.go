package mongotest

import (
	"errors"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// incoming is a client's message that is not executed here: a proxy passes it on, a pipe replies as the test says.
type incoming struct {
	Request
	wire wire.ClientMessage
}

// describe reads from a message the parts that middleware sees.
func describe(message []byte) (*incoming, error) {
	w, err := wire.ParseClientMessage(message)
	if err != nil {
		return nil, err
	}
	s := call.Specs[w.Name]
	in := &incoming{wire: w, Request: Request{
		RequestID: w.Header.RequestID, Command: w.Name, Database: w.Database, Body: w.Command(), Application: s == nil || !s.Service,
		TxnNumber: -1,
	}}
	it := wire.Elements(w.Body)
	for it.Next() {
		switch string(it.Key) {
		case "lsid":
			in.LSID = bson.Raw(it.Document())
		case "txnNumber":
			if n, ok := it.Int64(); ok {
				in.TxnNumber = n
			}
		}
	}
	return in, nil
}

// handleMessages passes each message that comes to handle, until that returns an error or the connection ends. After
// errSilent it reads on without handling anything.
func handleMessages(r io.Reader, handle func(message []byte) error) {
	for {
		message, err := wire.ReadMessage(r, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		switch err := handle(message); {
		case errors.Is(err, errSilent):
			_, _ = io.Copy(io.Discard, r)
			return
		case err != nil:
			return
		}
	}
}

func isGreeting(command string) bool {
	s := call.Specs[command]
	return s != nil && s.Greeting
}

// message returns a reply as a message that answers in, with an id of its own.
func (in *incoming) message(r *Reply, id int32) []byte {
	body := []byte(r.Body)
	if r.Error != nil {
		body = r.Error.document()
	}
	return in.wire.AppendReply(nil, id, body)
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

package mongotest

import (
	"encoding/binary"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Handler executes one message and returns its reply. It returns nil if the connection ended meanwhile.
type Handler func(*Request) *Reply

// Middleware stands between a client's message and the server. It either calls next, at most once, and returns the reply of
// next, which it may change; or it returns a reply of its own, and the message is not executed. If next returns nil,
// Middleware must return nil. An empty reply becomes an error. Middleware runs on the connection's goroutine, with no lock
// held, and may call every method of the deployment but Close; its waits delay that connection only.
type Middleware func(r *Request, next Handler) *Reply

// Reply describes the bytes that are sent to the client for one message.
type Reply struct {
	// Body is the reply's document. It is sent as it is, and valid only until the middleware has returned.
	Body bson.Raw
	// Error, if it is not nil, is sent instead of Body, with the texts and labels of the server's version.
	Error *CommandError
	// Garbage, if it is not nil, has the bytes that are sent instead of a message.
	Garbage []byte
	// ResponseTo, if it is not 0, is the request id that the reply claims to answer.
	ResponseTo int32
	// Lost closes the connection; the reply is not sent.
	Lost bool
	// CutAfter is how many bytes of the reply Lost sends before it closes the connection.
	CutAfter int
	// Silent changes Lost: it leaves the connection open, and nothing is sent on it again.
	Silent bool
	// Close closes the connection when the reply has been sent.
	Close bool
}

// NewReply returns a reply whose body is a document: anything that package bson encodes, with "ok: 1" added if it has no
// such field. It panics if the document cannot be encoded.
func NewReply(doc any) *Reply {
	body, err := bson.Marshal(doc)
	if err != nil {
		panic("mongotest: NewReply: " + err.Error())
	}
	if !call.Has(body, "ok") {
		body = wire.EndDocument(wire.AppendDouble(body[:len(body)-1], "ok", 1), 0)
	}
	return &Reply{Body: body}
}

// given reports whether the reply has anything to send.
func (r *Reply) given() bool { return r.Body != nil || r.Error != nil || r.Garbage != nil }

// empty reports whether the reply neither sends anything nor ends the connection: the client would wait for ever.
func (r *Reply) empty() bool { return !r.given() && !r.Lost && !r.Close }

// orError returns the reply, or an error in place of one with nothing in it.
func (r *Reply) orError(command string) *Reply {
	if !r.empty() {
		return r
	}
	return &Reply{Error: &CommandError{
		Code: mongoerr.NotImplemented, Message: "mongotest: middleware answered " + command + " with a Reply that has nothing in it",
	}}
}

// on returns what of a message, encoded as it should be, goes on the wire.
func (r *Reply) on(message []byte) []byte {
	switch {
	case !r.given():
		return nil
	case r.Garbage != nil:
		message = r.Garbage
	case r.ResponseTo != 0:
		message = slices.Clone(message)
		binary.LittleEndian.PutUint32(message[8:], uint32(r.ResponseTo))
	}
	if r.Lost {
		message = message[:min(r.CutAfter, len(message))]
	}
	return message
}

// ended is the error that ends a connection after the reply, nil if it goes on.
func (r *Reply) ended() error {
	switch {
	case r.Lost && r.Silent:
		return errSilent
	case r.Lost || r.Close:
		return call.ErrHangUp
	}
	return nil
}

// AnyCommand stands for all commands except hello and its older names, which monitors and handshakes send.
const AnyCommand = "*"

// middlewares are those in use, in the order in which they were added.
type middlewares struct {
	inUse testserver.Uses[string, Middleware] // by the name that a test gave the command
}

// Use makes every message of a command pass through middleware. The command is a name, in which upper and lower case are the
// same and which also stands for the command's older names, or [AnyCommand]. The name need not be one that the server knows:
// middleware may implement a command. Messages pass first through the middleware that was put in use first. A stream of hellos
// counts as one message. The returned function ends the use; messages that are being processed still pass. Use panics if the
// middleware is nil.
func (ms *middlewares) Use(command string, m Middleware) (remove func()) {
	if m == nil {
		panic("mongotest: Use: the middleware of " + command + " is nil")
	}
	return ms.inUse.Add(command, m)
}

// concerning returns the middleware that concerns a command, nil if none does.
func (ms *middlewares) concerning(command string) []Middleware {
	return ms.inUse.Of(func(name string) bool { return stands(name, command) })
}

// stands reports whether a test means a command by a name: whatever the case, or an older name.
func stands(name, command string) bool {
	if isGreeting(command) {
		return strings.EqualFold(name, "hello") || strings.EqualFold(name, "isMaster")
	}
	return name == AnyCommand || strings.EqualFold(name, command) || strings.EqualFold(fields.NewestName(name), fields.NewestName(command))
}

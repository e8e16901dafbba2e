package topology

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// What a server can take when its hello does not say: the values that the manual's page of hello gives.
const (
	DefaultMaxDocumentSize = 16 * 1024 * 1024
	DefaultMaxMessageSize  = 48_000_000
	DefaultMaxBatchCount   = 100_000
)

// HelloError is a hello that the server answered without "ok: 1". It keeps what an error reply says, so that a refused
// handshake can be classified like any other command error.
type HelloError struct {
	Code            int32
	HasCode         bool
	CodeName        string
	Message         string
	Labels          []string
	TopologyVersion *TopologyVersion
}

// Error returns the server's message and code.
func (e *HelloError) Error() string {
	msg := e.Message
	if msg == "" {
		msg = "the reply has no ok: 1"
	}
	if !e.HasCode {
		return "hello failed: " + msg
	}
	return fmt.Sprintf("hello failed: %s (%s, code %d)", msg, e.CodeName, e.Code)
}

// ParseHello turns the reply to a hello or legacy hello into a description of the server at addr, by the rules of SDAM,
// "Parsing a hello or legacy hello response". LastUpdateTime and the round trip time are the caller's to set, before
// the description is published.
//
// The description is never nil. With an error it is Unknown and holds that error: a *HelloError if the server refused,
// or one that matches wire.ErrMalformed if the bytes or the types of fields are not what they should be.
func ParseHello(addr string, doc bson.Raw) (*Server, error) {
	h := helloReply{server: &Server{
		Address:         strings.ToLower(addr),
		MaxDocumentSize: DefaultMaxDocumentSize,
		MaxMessageSize:  DefaultMaxMessageSize,
		MaxBatchCount:   DefaultMaxBatchCount,
	}}
	if err := h.read(doc); err != nil {
		return NewUnknown(addr, err, nil), err
	}
	h.server.Kind = h.kind()
	return h.server, nil
}

// helloReply is what has been read of a reply: the description, and what decides its kind.
type helloReply struct {
	server  *Server
	failure HelloError

	ok             bool
	writable       *bool // isWritablePrimary
	legacyWritable *bool // ismaster
	secondary      bool
	ghost          bool // isreplicaset
	msg            string
}

// read goes over the reply once. A refusal is told before a field of the wrong type: it is what the server meant to say.
func (h *helloReply) read(doc bson.Raw) error {
	var wrong error
	it := wire.Elements(doc)
	for it.Next() {
		field, known := helloFields[string(it.Key)]
		if !known || it.Type == bson.TypeNull || it.Type == bson.TypeUndefined {
			continue
		}
		if !field(h, &it.Element) && wrong == nil {
			wrong = fmt.Errorf("%w: the field %q of a hello, of type %s, has no valid value", wire.ErrMalformed, it.Key, it.Type)
		}
	}
	switch {
	case it.Err != nil:
		return fmt.Errorf("hello: %w", it.Err)
	case !h.ok:
		failure := h.failure
		failure.TopologyVersion = h.server.TopologyVersion
		return &failure
	}
	return wrong
}

// kind is the table of SDAM, "type". Whatever reports "isreplicaset: true" is a ghost, and a hidden member is RSOther
// even where it says that it is a secondary.
func (h *helloReply) kind() ServerKind {
	switch {
	case h.ghost:
		return RSGhost
	case h.msg == "isdbgrid":
		return Mongos
	case h.server.SetName == "":
		return Standalone
	case h.server.Hidden:
		return RSOther
	case h.primary():
		return RSPrimary
	case h.secondary:
		return RSSecondary
	case h.server.ArbiterOnly:
		return RSArbiter
	}
	return RSOther
}

func (h *helloReply) primary() bool {
	if h.writable != nil {
		return *h.writable
	}
	return h.legacyWritable != nil && *h.legacyWritable
}

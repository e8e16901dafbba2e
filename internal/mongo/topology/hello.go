package topology

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The limits of a server whose hello does not state them: the defaults in the manual's page of hello. Sizes are in
// bytes.
const (
	DefaultMaxDocumentSize = 16 * 1024 * 1024
	DefaultMaxMessageSize  = 48_000_000
	DefaultMaxBatchCount   = 100_000
)

// HelloError is a reply to hello without "ok: 1". It keeps the fields of the error reply, so that a failed handshake
// can be classified like any other command error.
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

// ParseHello turns the reply to a hello or legacy hello into a description of the server at addr, by the rules of
// SDAM, "Parsing a hello or legacy hello response". The caller sets LastUpdateTime and the round trip time before it
// publishes the description. The description is never nil. On an error it is Unknown and contains that error: a
// *HelloError if the reply has no "ok: 1", or one that matches wire.ErrMalformed if the bytes are malformed or a
// field has the wrong type.
func ParseHello(addr string, doc bson.Raw) (*Server, error) {
	h := helloReply{server: &Server{
		Address:         canonical(addr),
		MaxDocumentSize: DefaultMaxDocumentSize,
		MaxMessageSize:  DefaultMaxMessageSize,
		MaxBatchCount:   DefaultMaxBatchCount,
	}}
	if err := h.read(doc); err != nil {
		return NewUnknown(addr, err, nil), err
	}
	h.server.Type = h.kind()
	return h.server, nil
}

// ParseFailure returns the *HelloError of a reply to any command of the handshake that has no "ok: 1". Otherwise it returns nil,
// or an error that matches wire.ErrMalformed.
func ParseFailure(doc bson.Raw) error {
	h := helloReply{server: &Server{}}
	return h.read(doc)
}

// helloReply is a reply that is being read: the description, and the fields that determine its kind.
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

// read reads the reply in one pass. A reply without "ok: 1" is a *HelloError, even if a field has the wrong type.
func (h *helloReply) read(doc bson.Raw) error {
	var wrong error
	it := wire.Elements(doc)
	for it.Next() {
		field, known := helloFields[string(it.Key)]
		if !known || it.Type == bson.TypeNull || it.Type == bson.TypeUndefined {
			continue
		}
		if !field(h, &it.Element) && wrong == nil {
			wrong = fmt.Errorf("%w: the field %q of a hello has an invalid value of type %s", wire.ErrMalformed, it.Key, it.Type)
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

// kind is the table of SDAM, "type". A server with "isreplicaset: true" is always RSGhost. A hidden member is
// RSOther, even if it is a secondary.
func (h *helloReply) kind() ServerType {
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

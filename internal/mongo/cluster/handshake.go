package cluster

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Version is this client's version in the handshake.
const Version = "0.1.0"

// Handshake has the optional fields of the first hello on each connection (MongoDB Handshake specification). An empty
// field is not sent.
type Handshake struct {
	AppName string
	// Compressors are the names of the compressors that the client supports, the preferred first.
	Compressors []string
	// Library names a library that wraps the client.
	Library DriverInfo
	// LoadBalanced means that the client is configured for a load balancer.
	LoadBalanced bool
	ServerAPI    *ServerAPI
}

// ServerAPI is the API version that every command declares (Stable API specification).
type ServerAPI struct {
	Version           string
	Strict            *bool
	DeprecationErrors *bool
}

// legacy reports whether the first hello is isMaster, which every server understands. With an API version or a load balancer the
// specifications require hello.
func (h *Handshake) legacy() bool { return h.ServerAPI == nil && !h.LoadBalanced }

// initialHello is the first hello of one connection.
type initialHello struct {
	*Handshake
	metadata []byte      // the document "client"
	login    *auth.Login // nil if the connection does not log in
}

// append writes the elements of the hello.
func (h *initialHello) append(ctx context.Context, b []byte) ([]byte, error) {
	command := "hello"
	if h.legacy() {
		command = "isMaster"
	}
	b = wire.AppendInt32(b, command, 1)
	b = wire.AppendBool(b, "helloOk", true)
	if h.LoadBalanced {
		b = wire.AppendBool(b, "loadBalanced", true)
	}
	b = wire.AppendString(b, "backpressure", "2")
	b = wire.AppendDocument(b, "client", h.metadata)
	b = wire.AppendStrings(b, "compression", h.Compressors) // empty if there is none: OP_COMPRESSED specification
	b, err := h.appendLogin(ctx, b)
	return h.ServerAPI.Append(b), err
}

// appendLogin writes the elements of a connection that logs in.
func (h *initialHello) appendLogin(ctx context.Context, b []byte) ([]byte, error) {
	if h.login == nil {
		return b, nil
	}
	if user := h.login.User(); user != "" {
		b = wire.AppendString(b, "saslSupportedMechs", user)
	}
	message, err := h.login.Speculative(ctx)
	if err == nil && message != nil {
		b = wire.AppendDocument(b, "speculativeAuthenticate", message)
	}
	return b, err
}

// appendLater writes the elements of a later hello on a connection.
func (h *Handshake) appendLater(b []byte, helloOK bool) []byte {
	command := "isMaster"
	if helloOK || !h.legacy() {
		command = "hello"
	}
	b = wire.AppendInt32(b, command, 1)
	b = wire.AppendBool(b, "helloOk", true)
	return h.ServerAPI.Append(b)
}

// Append writes the fields of the API version, if there is one.
func (a *ServerAPI) Append(b []byte) []byte {
	if a == nil {
		return b
	}
	b = wire.AppendString(b, "apiVersion", a.Version)
	if a.Strict != nil {
		b = wire.AppendBool(b, "apiStrict", *a.Strict)
	}
	if a.DeprecationErrors != nil {
		b = wire.AppendBool(b, "apiDeprecationErrors", *a.DeprecationErrors)
	}
	return b
}

package cluster

import (
	"runtime"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Version is this client's version in the handshake.
const Version = "0.1.0"

// Handshake describes what a client says about itself, and asks for, in the first hello of each connection (MongoDB
// Handshake specification). Fields that are empty are not sent.
type Handshake struct {
	AppName string
	// Compressors are the names of the compressors that the client offers, the preferred first.
	Compressors []string
	// Mechanisms names a user, "database.name", whose authentication mechanisms the server is asked for.
	Mechanisms string
	// Speculative returns the first message of an authentication, which the hello carries to save a round trip. It is
	// called for each connection.
	Speculative func() ([]byte, error)
	// LoadBalanced says that the client knows it is talking to a load balancer.
	LoadBalanced bool
	ServerAPI    *ServerAPI
}

// ServerAPI is the stable API version that every command declares (Stable API specification).
type ServerAPI struct {
	Version           string
	Strict            *bool
	DeprecationErrors *bool
}

// legacy reports whether the first hello is the old command in an OP_QUERY, which every server understands. Servers that
// can be asked for more than the old command knows understand the new one.
func (h *Handshake) legacy() bool { return h.ServerAPI == nil && !h.LoadBalanced }

// appendFirst writes the elements of the first hello on a connection.
func (h *Handshake) appendFirst(b []byte) ([]byte, error) {
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
	b = appendMetadata(b, h.AppName)
	if len(h.Compressors) > 0 {
		at, rest := wire.BeginArray(b, "compression")
		for i, name := range h.Compressors {
			rest = wire.AppendString(rest, wire.ArrayKey(i), name)
		}
		b = wire.EndDocument(rest, at)
	}
	if h.Mechanisms != "" {
		b = wire.AppendString(b, "saslSupportedMechs", h.Mechanisms)
	}
	if h.Speculative != nil {
		message, err := h.Speculative()
		if err != nil {
			return nil, err
		}
		b = wire.AppendDocument(b, "speculativeAuthenticate", message)
	}
	return h.ServerAPI.append(b), nil
}

// appendLater writes the elements of a hello on a connection that has shaken hands.
func (h *Handshake) appendLater(b []byte, helloOK bool) []byte {
	command := "isMaster"
	if helloOK || !h.legacy() {
		command = "hello"
	}
	b = wire.AppendInt32(b, command, 1)
	b = wire.AppendBool(b, "helloOk", true)
	return h.ServerAPI.append(b)
}

// append writes the API version, if there is one.
func (a *ServerAPI) append(b []byte) []byte {
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

// appendMetadata writes the client's metadata, which may have 512 bytes by the specification.
func appendMetadata(b []byte, appName string) []byte {
	client, b := wire.BeginEmbedded(b, "client")
	if appName != "" {
		app, rest := wire.BeginEmbedded(b, "application")
		b = wire.EndDocument(wire.AppendString(rest, "name", appName), app)
	}
	driver, b := wire.BeginEmbedded(b, "driver")
	b = wire.AppendString(b, "name", "holdfast")
	b = wire.AppendString(b, "version", Version)
	b = wire.EndDocument(b, driver)
	system, b := wire.BeginEmbedded(b, "os")
	b = wire.AppendString(b, "type", runtime.GOOS)
	b = wire.AppendString(b, "architecture", runtime.GOARCH)
	b = wire.EndDocument(b, system)
	b = wire.AppendString(b, "platform", runtime.Version())
	return wire.EndDocument(b, client)
}

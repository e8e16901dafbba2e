package cluster

import (
	"runtime"

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
	// Mechanisms is saslSupportedMechs: a user, "database.name", whose authentication mechanisms the reply lists.
	Mechanisms string
	// Speculative returns speculativeAuthenticate, the first message of an authentication. It saves a round trip. It
	// is called once for each connection.
	Speculative func() ([]byte, error)
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

// legacy reports whether the first hello is isMaster in an OP_QUERY, which every server understands. With an API
// version or a load balancer the specifications require hello in an OP_MSG.
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
	return h.ServerAPI.Append(b), nil
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

// appendMetadata writes the client metadata. The specification limits it to 512 bytes.
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

package cluster

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// Version is this client's version in the handshake.
const Version = "0.1.0"

// HandshakeError is a connection that could not be made ready. Nothing of an operation was sent on it.
type HandshakeError struct {
	Address string
	// Connecting: the failure came while connecting or in the hello, so that it may be the server's overload.
	Connecting bool
	Timeout    bool
	// Network: the connection failed, as opposed to an answer that refuses.
	Network bool
	// Reply is the server's refusal, nil if there was none.
	Reply bson.Raw
	Err   error
}

// Error returns what failed.
func (e *HandshakeError) Error() string {
	return fmt.Sprintf("connecting to %s failed: %v", e.Address, e.Err)
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// hello asks on a new connection who the server is: the old command in an OP_QUERY, which every server understands.
func (c *Conn) hello(ctx context.Context, address, appName string) (*topology.Server, error) {
	const requestID = 1
	message := wire.AppendQuery(nil, requestID, wire.SecondaryOk, "admin.$cmd", helloDocument(appName))
	stop := c.watch(ctx)
	err := c.write(message)
	var reply []byte
	if err == nil {
		if reply, err = c.readMessage(); err != nil {
			err = c.ioError(retry.StageInFlight, err)
		}
	}
	if err = c.done(ctx, stop, err); err != nil {
		return nil, err
	}
	doc, err := wire.ParseReply(reply)
	if h, _ := wire.ParseHeader(reply); err == nil && h.ResponseTo != requestID {
		err = fmt.Errorf("%w: an answer to request %d where %d was asked", wire.ErrMalformed, h.ResponseTo, requestID)
	}
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return described(address, doc)
}

// again asks on a connection that has shaken hands.
func (c *Conn) again(ctx context.Context, address string) (*topology.Server, error) {
	const requestID = 2
	command := "isMaster"
	if c.Description.HelloOK {
		command = "hello"
	}
	at, b := wire.BeginMsg(c.Out[:0], requestID, 0, 0)
	doc, b := wire.BeginDocument(b)
	b = wire.AppendInt32(b, command, 1)
	b = wire.AppendBool(b, "helloOk", true)
	b = wire.AppendString(b, "$db", "admin")
	c.Out = wire.EndMessage(wire.EndDocument(b, doc), at)
	reply, err := c.RoundTrip(ctx, c.Out, requestID)
	if err != nil {
		return nil, err
	}
	m, err := wire.ParseMsg(reply)
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return described(address, m.Body)
}

// refusal is a hello that was answered with an error.
type refusal struct {
	reply bson.Raw
	err   error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func described(address string, doc []byte) (*topology.Server, error) {
	doc = append([]byte(nil), doc...) // the description outlives the connection's buffer
	s, err := topology.ParseHello(address, doc)
	if err != nil {
		return nil, &refusal{reply: doc, err: err}
	}
	s.LastUpdateTime = time.Now()
	return s, nil
}

// helloDocument is the first hello, with the client's metadata (at most 512 bytes by the handshake specification).
func helloDocument(appName string) []byte {
	at, b := wire.BeginDocument(nil)
	b = wire.AppendInt32(b, "isMaster", 1)
	b = wire.AppendBool(b, "helloOk", true)
	b = wire.AppendString(b, "backpressure", "2")
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
	b = wire.EndDocument(b, client)
	return wire.EndDocument(b, at)
}

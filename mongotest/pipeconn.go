package mongotest

import (
	"bufio"
	"net"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// pipeConn is one client's connection to a pipe, served by one goroutine.
type pipeConn struct {
	pipe *BlackPipe
	id   int64
	nc   net.Conn
	done chan struct{}
	once sync.Once
}

// accept begins to serve a connection. It returns false if the pipe has ended.
func (p *BlackPipe) accept(nc net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return false
	}
	c := &pipeConn{pipe: p, id: p.ids.Add(1), nc: nc, done: make(chan struct{})}
	p.conns[c] = struct{}{}
	p.wg.Go(c.serve)
	return true
}

func (c *pipeConn) close() { c.once.Do(func() { close(c.done); _ = c.nc.Close() }) }

func (c *pipeConn) serve() {
	defer func() {
		c.close()
		c.pipe.mu.Lock()
		defer c.pipe.mu.Unlock()
		delete(c.pipe.conns, c)
	}()
	handleMessages(bufio.NewReader(c.nc), c.handle)
}

// handle answers one message.
func (c *pipeConn) handle(message []byte) error {
	p := c.pipe
	in, err := describe(message)
	if err != nil {
		p.fail("connection %d sent %d bytes that are not a message: %v", c.id, len(message), err)
		return err
	}
	in.ConnID, in.done, in.client = c.id, c.done, c.nc
	p.transcript.add(Message{ConnID: c.id, RequestID: in.RequestID, Body: in.Body})
	reply := testserver.Around(p.concerning(in.Command), func(*Request) *Reply { return p.respond(in) })(&in.Request)
	if reply == nil {
		return call.ErrHangUp
	}
	if in.wire.Unanswered() {
		return reply.ended()
	}
	reply = reply.orError(in.Command)
	out := in.message(reply, p.replies.Add(1))
	h, _ := wire.ParseHeader(out)
	p.transcript.add(Message{
		ConnID: c.id, Reply: true, RequestID: h.RequestID, ResponseTo: in.RequestID, Body: body(out), Fault: reply.fault(),
	})
	if out = reply.on(out); len(out) > 0 {
		if _, err := c.nc.Write(out); err != nil {
			return err
		}
	}
	return reply.ended()
}

// copy returns a copy of the request, which stays valid.
func (in *incoming) copy() *Request {
	r := in.Request
	r.Body, r.LSID = slices.Clone(r.Body), slices.Clone(r.LSID)
	return &r
}

var okDocument = NewReply(bson.D{}).Body

// hello returns the reply to hello, under the name by which the client called it.
func (p *BlackPipe) hello(command string) *Reply {
	c := &p.config
	writable := "isWritablePrimary"
	if command != "hello" {
		writable = "ismaster"
	}
	doc := bson.D{{Key: "helloOk", Value: true}, {Key: writable, Value: true}}
	if !c.standalone {
		doc = append(doc, bson.D{
			{Key: "secondary", Value: false},
			{Key: "hosts", Value: bson.A{p.addr}},
			{Key: "setName", Value: c.setName},
			{Key: "setVersion", Value: 1},
			{Key: "primary", Value: p.addr},
			{Key: "me", Value: p.addr},
			{Key: "electionId", Value: bson.ObjectID(replica.ElectionID(1))},
		}...)
	}
	return NewReply(append(doc, bson.D{
		{Key: "maxBsonObjectSize", Value: query.MaxDocumentSize},
		{Key: "maxMessageSizeBytes", Value: wire.MaxMessageLength},
		{Key: "maxWriteBatchSize", Value: call.MaxBatch},
		{Key: "localTime", Value: time.Now()},
		{Key: "logicalSessionTimeoutMinutes", Value: parameter.SessionMinutes},
		{Key: "minWireVersion", Value: 0},
		{Key: "maxWireVersion", Value: c.version.WireVersion()},
		{Key: "readOnly", Value: false},
	}...))
}

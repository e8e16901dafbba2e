package mongotest

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"sync"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// proxyConn is one client's connection and the proxy's own to the server. One goroutine carries each direction.
type proxyConn struct {
	proxy  *Proxy
	member *proxyMember
	id     int64
	client net.Conn
	server net.Conn
	done   chan struct{}
	once   sync.Once

	writing sync.Mutex // of messages to the client

	mu      sync.Mutex
	pending map[int32]pending // by the request id that the reply answers
}

// pending says where a reply goes.
type pending struct {
	hello bool
	to    chan []byte // to the middleware that waits for it; nil if none does
}

func (c *proxyConn) close() {
	c.once.Do(func() {
		close(c.done)
		_ = c.client.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.server != nil {
			_ = c.server.Close()
		}
	})
}

func (c *proxyConn) run() {
	defer c.forget()
	first := bufio.NewReaderSize(c.client, 16<<10)
	if start, err := first.Peek(2); err != nil || (start[0] == 0x16 && start[1] == 0x03) {
		if err == nil { // a TLS handshake; the alert is "handshake failure"
			_, _ = c.client.Write([]byte{0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28})
		}
		return
	}
	if !c.connect() {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		defer c.close()
		handleMessages(bufio.NewReaderSize(c.server, 16<<10), c.response)
	})
	defer back.Wait()
	defer c.close() // also where middleware ends the goroutine, as t.Fatal does
	handleMessages(first, c.request)
}

// connect opens the connection to the server.
func (c *proxyConn) connect() bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.proxy.wg.Go(func() {
		select {
		case <-c.done:
			cancel()
		case <-ctx.Done():
		}
	})
	server, err := c.proxy.dial(ctx, "tcp", c.member.address)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = server
	select {
	case <-c.done:
		_ = server.Close()
		return false
	default:
		return true
	}
}

func (c *proxyConn) forget() {
	c.close()
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	delete(c.proxy.conns, c)
}

// request passes one message to the middleware that is in use for it, or to the server.
func (c *proxyConn) request(message []byte) error {
	in, err := describe(message)
	if err != nil {
		return err
	}
	in.Member, in.ConnID, in.done, in.client = c.member.index, c.id, c.done, c.client
	if isGreeting(in.Command) {
		message = withoutCompression(message, in.RequestID)
	}
	list := c.proxy.concerning(in.Command)
	if list == nil {
		return c.forward(in, message, nil)
	}
	var answer []byte
	reply := testserver.Around(list, func(*Request) *Reply {
		if answer = c.ask(in, message); answer == nil && !in.wire.Unanswered() {
			return nil
		}
		return &Reply{Body: body(answer)}
	})(&in.Request)
	if reply == nil {
		return call.ErrHangUp
	}
	if !in.wire.Unanswered() {
		reply = reply.orError(in.Command)
	}
	if reply.Error != nil || !bytes.Equal(reply.Body, body(answer)) {
		answer = in.message(reply, in.RequestID)
	}
	if !in.wire.Unanswered() {
		if err := c.write(reply.on(answer)); err != nil {
			return err
		}
	}
	return reply.ended()
}

// forward sends a message to the server. The reply goes to the channel to, or to the client if that is nil.
func (c *proxyConn) forward(in *incoming, message []byte, to chan []byte) error {
	if !in.wire.Unanswered() {
		c.mu.Lock()
		c.pending[in.RequestID] = pending{isGreeting(in.Command), to}
		c.mu.Unlock()
	}
	_, err := c.server.Write(message)
	return err
}

// ask sends a message to the server and returns its reply; nil if there is none.
func (c *proxyConn) ask(in *incoming, message []byte) []byte {
	to := make(chan []byte, 1)
	if c.forward(in, message, to) != nil || in.wire.Unanswered() {
		return nil
	}
	select {
	case reply := <-to:
		return reply
	case <-c.done:
		return nil
	}
}

func (c *proxyConn) write(b []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.client.Write(b)
	return err
}

// response passes one reply to the middleware that waits for it, or to the client.
func (c *proxyConn) response(message []byte) error {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return err
	}
	streamed := h.OpCode == wire.OpMsg && len(message) > wire.HeaderLength &&
		message[wire.HeaderLength]&byte(wire.MoreToCome) != 0
	c.mu.Lock()
	p := c.pending[h.ResponseTo]
	delete(c.pending, h.ResponseTo)
	if streamed { // the next reply answers this one
		c.pending[h.RequestID] = pending{hello: p.hello}
	}
	c.mu.Unlock()
	if p.hello {
		if message, err = c.proxy.rewriteHello(message, h); err != nil {
			return err
		}
	}
	if p.to != nil {
		p.to <- message
		return nil
	}
	return c.write(message)
}

// withoutCompression returns a hello that offers no compression.
func withoutCompression(message []byte, id int32) []byte {
	edit := func(doc []byte) []byte { return without(doc, "compression") }
	if m, err := wire.ParseMsg(message); err == nil {
		at, dst := wire.BeginMsg(nil, id, 0, m.Flags&^wire.ChecksumPresent)
		return wire.EndMessage(append(dst, edit(m.Body)...), at)
	}
	if q, err := wire.ParseQuery(message); err == nil {
		return wire.AppendQuery(nil, id, q.Flags, string(q.Collection), edit(q.Document))
	}
	return message
}

// without returns a document without a field.
func without(doc []byte, name string) []byte {
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != name {
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// rewriteHello returns a hello's reply with the proxy's addresses and without compression.
func (p *Proxy) rewriteHello(message []byte, h wire.Header) ([]byte, error) {
	if h.OpCode == wire.OpReply {
		doc, err := wire.ParseReply(message)
		if err != nil {
			return nil, err
		}
		if doc, err = p.rewriteDocument(doc); err != nil {
			return nil, err
		}
		return wire.AppendReply(nil, h.RequestID, h.ResponseTo, doc), nil
	}
	m, err := wire.ParseMsg(message)
	if err != nil {
		return nil, err
	}
	doc, err := p.rewriteDocument(m.Body)
	if err != nil {
		return nil, err
	}
	at, dst := wire.BeginMsg(nil, h.RequestID, h.ResponseTo, m.Flags&^wire.ChecksumPresent)
	return wire.EndMessage(append(dst, doc...), at), nil
}

func (p *Proxy) rewriteDocument(doc []byte) ([]byte, error) {
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(doc)
	for it.Next() {
		var err error
		switch key := string(it.Key); key {
		case "hosts", "passives", "arbiters":
			dst, err = p.rewriteList(dst, key, it.Value)
		case "me", "primary":
			var front string
			front, err = p.front(string(it.Text()))
			dst = wire.AppendString(dst, key, front)
		case "compression":
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
		if err != nil {
			return nil, err
		}
	}
	return wire.EndDocument(dst, at), it.Err
}

func (p *Proxy) rewriteList(dst []byte, key string, array []byte) ([]byte, error) {
	var fronts []string
	for _, v := range query.Elements(array) {
		front, err := p.front(string(v.Text()))
		if err != nil {
			return nil, err
		}
		fronts = append(fronts, front)
	}
	return wire.AppendStrings(dst, key, fronts), nil
}

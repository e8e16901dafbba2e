package mongotest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// proxyConn is one client's connection and the proxy's own to the server. One goroutine carries each direction.
type proxyConn struct {
	proxy  *FaultProxy
	member *proxyMember
	id     int64
	client net.Conn
	server net.Conn
	done   chan struct{}
	once   sync.Once

	writing sync.Mutex // of messages to the client

	mu      sync.Mutex
	silent  bool
	pending map[int32]pendingReply // by the request id that the reply answers
}

// pendingReply is what is to be done to a reply.
type pendingReply struct {
	hello bool
	fault Fault
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
		c.carryReplies(bufio.NewReaderSize(c.server, 16<<10))
	})
	c.carryRequests(first)
	c.close()
	back.Wait()
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

func (c *proxyConn) carryRequests(r *bufio.Reader) {
	for {
		message, err := wire.ReadMessage(r, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		switch err := c.request(message); {
		case errors.Is(err, errSilent):
			_, _ = io.Copy(io.Discard, r)
			return
		case err != nil:
			return
		}
	}
}

// request does what the interceptor says to one message, and forwards it.
func (c *proxyConn) request(message []byte) error {
	request, msg, err := c.describe(message)
	if err != nil {
		return err
	}
	hello := isGreeting(request.Command)
	f := c.proxy.intercept.Load()
	if hello {
		f = c.proxy.greeting.Load()
		message = withoutCompression(message, request.RequestID)
	}
	var fault Fault
	if f != nil {
		fault = (*f)(&request)
	}
	if fault.Before != nil {
		fault.Before()
	}
	if err := sleep(c.done, fault.Delay); err != nil {
		return err
	}
	switch {
	case fault.LoseRequest:
		return c.lose(fault)
	case fault.Error != nil:
		return c.refuse(request.RequestID, fault)
	}
	if msg == nil || msg.Flags&wire.MoreToCome == 0 {
		c.mu.Lock()
		c.pending[request.RequestID] = pendingReply{hello, fault}
		c.mu.Unlock()
	}
	_, err = c.server.Write(message)
	return err
}

// describe reads a message as far as an interceptor needs; the Msg is nil for an OP_QUERY.
func (c *proxyConn) describe(message []byte) (Request, *wire.Msg, error) {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return Request{}, nil, err
	}
	r := Request{Member: c.member.index, ConnID: c.id, RequestID: h.RequestID, TxnNumber: -1}
	switch h.OpCode {
	case wire.OpMsg:
		m, err := wire.ParseMsg(message)
		if err != nil {
			return r, nil, err
		}
		r.describe(m.Body)
		r.Body = folded(m.Body, m.Sequences)
		return r, &m, nil
	case wire.OpQuery:
		q, err := wire.ParseQuery(message)
		if err != nil {
			return r, nil, err
		}
		r.describe(q.Document)
		r.Body = bson.Raw(q.Document)
		return r, nil, nil
	}
	return r, nil, wire.ErrMalformed
}

// describe fills in what the command's own fields tell.
func (r *Request) describe(body []byte) {
	it := wire.Elements(body)
	for it.Next() {
		switch {
		case r.Command == "":
			r.Command = string(it.Key)
			s := specs[r.Command]
			r.Application = s == nil || !s.service
		case string(it.Key) == "$db":
			r.Database = string(it.Text())
		case string(it.Key) == "lsid":
			r.LSID = bson.Raw(it.Document())
		case string(it.Key) == "txnNumber":
			if n, ok := it.Int64(); ok {
				r.TxnNumber = n
			}
		}
	}
}

func isGreeting(command string) bool {
	s := specs[command]
	return s != nil && s.greeting
}

// lose ends the connection, or the answers on it.
func (c *proxyConn) lose(f Fault) error {
	if !f.Silent {
		return errHangUp
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = true
	return errSilent
}

// refuse answers an error in the server's place.
func (c *proxyConn) refuse(id int32, f Fault) error {
	at, dst := wire.BeginMsg(nil, id, id, 0)
	doc, dst := wire.BeginDocument(dst)
	dst = wire.AppendDouble(dst, "ok", 0)
	dst = wire.AppendString(dst, "errmsg", f.Error.Message)
	dst = wire.AppendInt32(dst, "code", f.Error.Code)
	dst = wire.AppendString(dst, "codeName", f.Error.name())
	if len(f.Error.Labels) > 0 {
		dst = wire.AppendStrings(dst, "errorLabels", f.Error.Labels)
	}
	return c.reply(wire.EndMessage(wire.EndDocument(dst, doc), at), f)
}

// reply hands a reply to the client, unless the fault says otherwise.
func (c *proxyConn) reply(message []byte, f Fault) error {
	if f.After != nil {
		f.After()
	}
	if f.LoseReply {
		message = message[:min(f.CutReplyAfter, len(message))]
	}
	c.writing.Lock()
	_, err := c.client.Write(message)
	c.writing.Unlock()
	if f.LoseReply {
		return c.lose(f)
	}
	return err
}

func (c *proxyConn) carryReplies(r *bufio.Reader) {
	for {
		message, err := wire.ReadMessage(r, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		switch err := c.response(message); {
		case errors.Is(err, errSilent):
			_, _ = io.Copy(io.Discard, r)
			return
		case err != nil:
			return
		}
	}
}

// response does to one reply what was decided for its request.
func (c *proxyConn) response(message []byte) error {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return err
	}
	streamed := h.OpCode == wire.OpMsg && len(message) > wire.HeaderLength &&
		message[wire.HeaderLength]&byte(wire.MoreToCome) != 0
	c.mu.Lock()
	p, silent := c.pending[h.ResponseTo], c.silent
	delete(c.pending, h.ResponseTo)
	if streamed { // the next reply answers this one
		c.pending[h.RequestID] = pendingReply{hello: p.hello}
	}
	c.mu.Unlock()
	if silent {
		return errSilent
	}
	if p.hello {
		if message, err = c.proxy.rewriteHello(message, h); err != nil {
			return err
		}
	}
	return c.reply(message, p.fault)
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
func (p *FaultProxy) rewriteHello(message []byte, h wire.Header) ([]byte, error) {
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

func (p *FaultProxy) rewriteDocument(doc []byte) ([]byte, error) {
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

func (p *FaultProxy) rewriteList(dst []byte, key string, array []byte) ([]byte, error) {
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

package cluster

import (
	"context"
	"net"
	"sync"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// network is a Dialer for scripted servers in memory, by address.
type network map[string]*peer

func (n network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	p := n[address]
	if p == nil {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	return p.accept(ctx)
}

// peer is a scripted server.
type peer struct {
	mu     sync.Mutex
	dial   func(context.Context) error // nil: every connection is accepted
	hello  bson.D                      // the answer to every hello
	script func(*question) bool        // returns false if the question is to be answered as without a script
	asked  []*question
	dialed int
	open   int // connections
	conns  []*memnet.Conn
}

// question is one message that a peer received.
type question struct {
	conn      *memnet.Conn
	dialed    int  // the number of the connection, from 1
	handshake bool // the first message on a connection
	hello     bool // a hello, of the handshake or later
	header    wire.Header
	document  bson.Raw // the body
	message   []byte   // as it came
}

func (p *peer) accept(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	dial := p.dial
	p.mu.Unlock()
	if dial != nil {
		if err := dial(ctx); err != nil {
			return nil, err
		}
	}
	client, server := memnet.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialed++
	p.open++
	p.conns = append(p.conns, server)
	go p.serve(server, p.dialed)
	return client, nil
}

func (p *peer) serve(nc *memnet.Conn, dialed int) {
	defer p.set(func(p *peer) { p.open-- })
	defer nc.Close()
	for first := true; ; first = false {
		message, err := wire.ReadMessage(nc, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		q := &question{conn: nc, dialed: dialed, message: message}
		q.header, _ = wire.ParseHeader(message)
		q.handshake = first
		q.hello = q.handshake || isHello(message)
		if r, err := wire.ParseClientMessage(message); err == nil {
			q.document = r.Body
		}
		p.mu.Lock()
		p.asked = append(p.asked, q)
		script, hello := p.script, p.hello
		p.mu.Unlock()
		if script != nil && script(q) {
			continue
		}
		if !q.hello {
			hello = bson.D{}
		}
		q.answer(append(bson.D{{Key: "ok", Value: 1}}, hello...))
	}
}

func isHello(message []byte) bool {
	m, err := wire.ParseMsg(message)
	it := wire.Elements(m.Body)
	return err == nil && it.Next() && (string(it.Key) == "hello" || string(it.Key) == "isMaster")
}

// answer sends a document.
func (q *question) answer(doc bson.D) { q.conn.Write(q.reply(doc)) }

func (q *question) reply(doc bson.D) []byte {
	body, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return msg(q.header.RequestID, body)
}

func msg(responseTo int32, body []byte) []byte {
	at, b := wire.BeginMsg(nil, 1, responseTo, 0)
	return wire.EndMessage(append(b, body...), at)
}

// set changes the peer with its lock held.
func (p *peer) set(change func(*peer)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// down makes every new connection fail with err and closes the open ones.
func (p *peer) down(err error) {
	p.set(func(p *peer) {
		p.dial = func(context.Context) error { return err }
		for _, nc := range p.conns {
			nc.CloseWrite()
		}
		p.conns = nil
	})
}

// hang makes the peer silent, on new and on open connections.
func (p *peer) hang() {
	p.set(func(p *peer) { p.script = func(*question) bool { return true } })
}

// dials returns the number of connections so far.
func (p *peer) dials() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialed
}

// hellos returns the number of hellos that the peer received.
func (p *peer) hellos() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, q := range p.asked {
		if q.hello {
			n++
		}
	}
	return n
}

func standalone() bson.D {
	return bson.D{{Key: "helloOk", Value: true}, {Key: "isWritablePrimary", Value: true}, {Key: "maxWireVersion", Value: 25}}
}

// member is the hello of a member of the replica set rs.
func member(primary bool, hosts ...string) bson.D {
	return bson.D{
		{Key: "helloOk", Value: true},
		{Key: "isWritablePrimary", Value: primary},
		{Key: "secondary", Value: !primary},
		{Key: "setName", Value: "rs"},
		{Key: "hosts", Value: hosts},
		{Key: "maxWireVersion", Value: 25},
	}
}

// mongos is the hello of a mongos.
func mongos() bson.D { return append(standalone(), bson.E{Key: "msg", Value: "isdbgrid"}) }

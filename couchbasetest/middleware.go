package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Request is one request of a client, as middleware sees it. Its slices are valid only until the reply has been sent.
type Request struct {
	Node       int
	ConnID     int64 // the connection, counted from 1
	Bucket     string
	Opcode     Opcode
	VBucket    uint16
	Opaque     uint32
	CAS        uint64
	Collection uint32
	Key        string // of a document without the collection's id, or whatever else the command has as its key
	Extras     []byte
	Value      []byte // as it was sent: perhaps compressed
	Durable    bool   // a write that is not answered before other copies have it
	// Application reports whether an application asks for such a command, unlike HELLO, NOOP, GET_CLUSTER_CONFIG and others that
	// clients send for themselves.
	Application bool

	done <-chan struct{} // closed when the connection is
	x    *exec
}

// Aside lets the next requests of the connection begin, if the client accepts replies in any order. Middleware that waits by itself
// calls it before; a [Fault] that waits does so.
func (r *Request) Aside() { r.x.aside() }

// describe returns what middleware sees of the request.
func (x *exec) describe() *Request {
	r := &Request{
		Node: x.node.index, ConnID: x.conn.id, Opcode: x.p.Opcode, VBucket: x.p.VBucket, Opaque: x.p.Opaque, CAS: x.p.CAS,
		Extras: x.p.Extras, Value: x.p.Value, Durable: x.frames.durable, Application: !forItself(x.p.Opcode), done: x.conn.done, x: x,
	}
	if b := x.conn.bucket; b != nil {
		r.Bucket = b.Name
	}
	r.Collection, r.Key = x.documentKey()
	return r
}

// documentKey returns the key of the request, without the id of the collection if it has one.
func (x *exec) documentKey() (collection uint32, key string) {
	if x.command != nil && x.command.document && x.conn.features.Has(memd.FeatureCollections) {
		if id, name, err := memd.CutCollectionID(x.p.Key); err == nil {
			return id, string(name)
		}
	}
	return 0, string(x.p.Key)
}

// Handler executes one request and returns its reply. It returns nil if the connection or the cluster ended meanwhile.
type Handler func(*Request) *Reply

// Middleware stands between a client's request and the node. It either calls next, at most once, and returns the reply of next,
// which it may change; or it returns a reply of its own, and the request is not executed. If next returns nil, it must return nil.
// It runs with no lock held, and may call every method of the cluster but Close.
type Middleware func(r *Request, next Handler) *Reply

// middlewares are those in use, in the order in which they were added.
type middlewares struct {
	inUse testserver.Uses[Opcode, Middleware]
}

// Use makes every request with an opcode pass through middleware; [AnyOpcode] stands for all that applications ask for. The opcode
// need not be one that nodes know: middleware may implement a command. Requests pass first through the middleware that was put in
// use first. The returned function ends the use; requests that are under way still pass. Use panics if the middleware is nil.
func (ms *middlewares) Use(op Opcode, m Middleware) (remove func()) {
	if m == nil {
		panic("couchbasetest: Use: the middleware is nil")
	}
	return ms.inUse.Add(op, m)
}

// concerning returns the middleware that concerns a command, nil if none does.
func (ms *middlewares) concerning(op Opcode) []Middleware {
	return ms.inUse.Of(func(of Opcode) bool { return of == op || of == AnyOpcode && !forItself(op) })
}

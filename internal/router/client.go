package router

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// client is the connection of one client. One goroutine serves it.
type client struct {
	router    *Router
	conn      net.Conn
	socket    net.Conn // below conn, without its TLS
	id        int64
	progress  progress
	in        reader
	parser    parser
	ctx       context.Context //nolint:containedctx // that of its operations: it ends with the connection
	end       context.CancelFunc
	greeted   bool     // a hello was answered, or waits
	lost      *refusal // of an old write without a reply, which the client does not know yet
	watcher   watcher
	account   *account // who it is; nil: it has not logged in
	limited   bool     // its connection has a deadline
	login     *login   // that has begun
	departure departure
	reads     *operation.Request // the member of its reads; nil if each operation selects one
}

func newClient(r *Router, conn net.Conn, id int64) *client {
	c := &client{router: r, conn: r.secured(conn), socket: conn, id: id}
	c.progress.looks = &r.looks
	c.ctx, c.end = context.WithCancel(r.ctx)
	c.in.from, c.in.progress, c.in.ctx, c.in.memory = c.conn, &c.progress, c.ctx, &r.memory
	if !r.cfg.PinOperation {
		c.reads = r.runner.NewReadsRequest()
	}
	return c
}

// serve deals with one message after the other, until the client leaves or breaks the protocol.
func (c *client) serve() {
	defer c.in.release()
	defer c.conn.Close()
	defer c.end()
	if !c.shakeHands() {
		return
	}
	for c.rest() {
		if err := c.serveNext(); err != nil {
			return // of a message that nobody can read, too, as a server does
		}
	}
}

// serveNext reads a message and deals with it. The error is that of the connection.
func (c *client) serveNext() error {
	c.limitSilence()
	c.in.stranger = c.isStranger()
	message, err := c.in.next(c.limit())
	u, tooMuch := err.(*unread) //nolint:errorlint // it is never wrapped
	switch {
	case err != nil && !tooMuch:
		return err
	case !c.wake():
		return errEnded
	case tooMuch:
		return c.refuseUnread(u)
	}
	q, err := c.parser.parse(message)
	if err != nil {
		return err
	}
	defer c.parser.forget()
	return c.deal(q)
}

// errEnded is the error of a connection that the router has ended between two messages.
var errEnded = errors.New("the router has ended the connection")

// deal answers one command. The error is that of the connection.
func (c *client) deal(q *command) error {
	if refused := c.checkLogin(q); refused != nil {
		return c.refuse(q, refused)
	}
	if q.old != nil || c.lost != nil {
		return c.dealOld(q)
	}
	return c.command(q)
}

// command answers one command.
func (c *client) command(q *command) error {
	if refused := cmp.Or(q.checkDatabase(), q.checkClusterTime()); refused != nil {
		return c.refuse(q, refused)
	}
	preference, refused := preferenceOf(q)
	if refused != nil {
		return c.refuse(q, refused)
	}
	local := locals[q.Name]
	if local == nil {
		return c.forward(q, preference)
	}
	if refused := q.checkAPI(); refused != nil {
		return c.refuse(q, refused)
	}
	return local(c, q)
}

// forward has a member run a command, and sends its reply to the client.
func (c *client) forward(q *command, preference *readpref.ReadPref) error {
	if refused := c.checkMark(q); refused != nil {
		return c.refuse(q, refused)
	}
	c.departure.transaction = q.transaction && routes[q.Name] != ends
	if c.isStranger() {
		q.withoutFields()
		preference = nil
	}
	f := newForwarded(c, q)
	defer f.recycle()
	c.describe(f, preference)
	if err := c.run(f); err != nil {
		return f.fail(err)
	}
	return f.sendReply()
}

// run runs the operation of a command.
func (c *client) run(f *forwarded) error {
	ctx := c.ctx
	if limit := f.limit(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, f.began.Add(limit), errMaxTime)
		defer cancel()
	}
	c.watcher.begin(f.began)
	defer f.stopWaiting()
	ctx = c.trace(ctx, f)
	return f.op.Traced.Run(func() error {
		if f.searches {
			return c.search(ctx, f)
		}
		err := c.router.runner.Run(ctx, &f.op)
		if err != nil && f.movesTransaction(ctx, err) {
			err = c.router.runner.Run(ctx, &f.op)
		}
		return err
	})
}

// errMaxTime is the cause of the end of an operation at the maxTimeMS of its command.
var errMaxTime = errors.New("maxTimeMS of the command has passed")

// refuse answers with an error.
func (c *client) refuse(q *command, e *refusal) error {
	return c.answer(q, e.append(nil))
}

// answer sends a document as the reply to a command.
func (c *client) answer(q *command, document []byte) error {
	if q.silent() {
		return nil
	}
	b := takeBuffer()
	defer putBuffer(b)
	*b = q.AppendReply((*b)[:0], c.router.ids.Add(1), document)
	return c.write(*b)
}

// buffers are those of replies that are not large.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// mostBuffer is the size in bytes of the largest buffer that is kept.
const mostBuffer = 64 << 10

func takeBuffer() *[]byte { return buffers.Get().(*[]byte) }

func putBuffer(b *[]byte) {
	if cap(*b) <= mostBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// maxMessageBytes is the largest message of a client: that of a mongos.
const maxMessageBytes = wire.MaxMessageLength

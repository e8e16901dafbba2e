package mongotest

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// Expectation is one message that a [BlackPipe] expects, with its reply. Messages must come in the order in which they are
// expected, over any connection. One of [Expectation.Reply], [Expectation.Fail], [Expectation.CloseConnection] and
// [Expectation.Send] must be called once: before the message comes, or while the client waits for the reply.
type Expectation struct {
	pipe    *BlackPipe
	command string
	where   []func(*Request) bool
	delay   time.Duration
	met     chan struct{} // closed when the message has come
	decided chan struct{} // closed when the reply is known
	request *Request
	reply   *Reply
}

// Expect makes the pipe expect a command with this exact name; "hello" also stands for its older names. The message must
// also meet all conditions, if there are any. They are called with a lock held and must not call the pipe. Expect panics if
// one is nil.
func (p *BlackPipe) Expect(command string, where ...func(*Request) bool) *Expectation {
	for i, holds := range where {
		if holds == nil {
			panic(fmt.Sprintf("mongotest: Expect: condition %d of %s is nil", i, command))
		}
	}
	e := &Expectation{pipe: p, command: command, where: where, met: make(chan struct{}), decided: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue = append(p.queue, e); len(p.queue) == 1 {
		p.watchLocked()
	}
	return e
}

func (e *Expectation) meets(r *Request) bool {
	if r.Command != e.command && (!isGreeting(r.Command) || !isGreeting(e.command)) {
		return false
	}
	return !slices.ContainsFunc(e.where, func(holds func(*Request) bool) bool { return !holds(r) })
}

// After delays the reply by d. It must be called before the method that says what the reply is.
func (e *Expectation) After(d time.Duration) *Expectation {
	e.delay = d
	return e
}

// Reply sends a document: anything that package bson encodes, with "ok: 1" added if it has no field "ok".
func (e *Expectation) Reply(doc any) *Expectation { return e.Send(NewReply(doc)) }

// Fail sends an error. It panics if err is nil.
func (e *Expectation) Fail(err *CommandError) *Expectation {
	if err == nil {
		panic("mongotest: Fail: the error for " + e.command + " is nil")
	}
	return e.Send(&Reply{Error: err})
}

// CloseConnection closes the connection without a reply.
func (e *Expectation) CloseConnection() *Expectation { return e.Send(&Reply{Lost: true}) }

// Send does what a [Reply] says: it can send a part of a reply, a wrong ResponseTo, garbage or nothing, and can close the
// connection afterwards. It panics if the reply is nil or empty. Like Reply, Fail and CloseConnection it panics if the
// expectation has a reply already.
func (e *Expectation) Send(r *Reply) *Expectation {
	switch {
	case r == nil:
		panic("mongotest: Send: the reply to " + e.command + " is nil")
	case r.empty():
		panic("mongotest: Send: the reply to " + e.command + " has nothing in it")
	}
	e.pipe.mu.Lock()
	defer e.pipe.mu.Unlock()
	if e.reply != nil {
		panic("mongotest: the black pipe: " + e.command + " is already answered")
	}
	e.reply = r
	close(e.decided)
	return e
}

// Request waits until the message has come, and returns a copy of it, which stays valid. If the message does not come,
// Request ends the test, and so must be called on the test's own goroutine; if no test runs the pipe, it returns nil.
func (e *Expectation) Request() *Request {
	select {
	case <-e.met:
		return e.request
	default:
	}
	select {
	case <-e.met:
		return e.request
	case <-e.pipe.broken:
		if t := e.pipe.t; t != nil {
			t.Helper()
			t.Fatalf("mongotest: the black pipe: %s did not come", e.command)
		}
		return nil
	}
}

// respond returns the reply to a message: that of the expectation, or the usual one to a handshake. It is nil if there is none.
func (p *BlackPipe) respond(in *incoming) *Reply {
	e, expected := p.meet(in)
	switch {
	case e != nil:
		return p.answer(e, in)
	case isGreeting(in.Command):
		return p.hello(in.Command)
	case in.Command == "endSessions":
		return &Reply{Body: okDocument}
	}
	p.fail("%s came on connection %d; %s was expected", in.Command, in.ConnID, expected)
	return nil
}

// meet returns the expectation that a message meets, nil if it meets none, and the name of the expected command.
func (p *BlackPipe) meet(in *incoming) (e *Expectation, expected string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil, "nothing"
	}
	next := p.queue[0]
	if !next.meets(&in.Request) {
		return nil, next.command
	}
	p.queue = p.queue[1:]
	p.watchLocked()
	next.request = in.copy()
	close(next.met)
	return next, next.command
}

// answer waits until the test has said what the reply is.
func (p *BlackPipe) answer(e *Expectation, in *incoming) *Reply {
	if in.wire.Unanswered() {
		return &Reply{}
	}
	t := time.NewTimer(p.config.timeout)
	defer t.Stop()
	select {
	case <-e.decided:
	case <-p.broken:
		return nil
	case <-t.C:
		p.fail("%s got no reply within %v", e.command, p.config.timeout)
		return nil
	}
	if !testserver.Sleep(in.done, e.delay) {
		return nil
	}
	reply := *e.reply
	return &reply
}

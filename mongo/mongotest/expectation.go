package mongotest

import (
	"fmt"
	"slices"
	"time"
)

// Expectation is one message that a pipe expects, and how it is answered. Expectations are met in the order in which they
// were made, whatever the connection. One of [Expectation.Reply], [Expectation.Fail], [Expectation.HangUp] and
// [Expectation.Send] must be called, before the message comes or while it waits for its answer.
type Expectation struct {
	pipe    *BlackPipe
	command string
	where   []func(*Request) bool
	delay   time.Duration
	met     chan struct{} // closed when the message has come
	sealed  chan struct{} // closed when the answer is known
	request *Request
	reply   *Reply
}

// Expect makes the pipe expect a command, by its exact name but for "hello", which also stands for its older names. If
// conditions are given, all must hold; they are asked with a lock held and must not call the pipe. It panics if one is nil.
func (p *BlackPipe) Expect(command string, where ...func(*Request) bool) *Expectation {
	for i, holds := range where {
		if holds == nil {
			panic(fmt.Sprintf("mongotest: Expect: condition %d of %s is nil", i, command))
		}
	}
	e := &Expectation{pipe: p, command: command, where: where, met: make(chan struct{}), sealed: make(chan struct{})}
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

// After delays the answer. It must be called before the answer is given.
func (e *Expectation) After(d time.Duration) *Expectation {
	e.delay = d
	return e
}

// Reply answers with a document: anything that package bson encodes, with "ok: 1" added if it has no such field.
func (e *Expectation) Reply(doc any) *Expectation { return e.Send(Answer(doc)) }

// Fail answers with an error, which must not be nil.
func (e *Expectation) Fail(err *CommandError) *Expectation {
	if err == nil {
		panic("mongotest: Fail: the error for " + e.command + " is nil")
	}
	return e.Send(&Reply{Error: err})
}

// HangUp closes the connection in place of an answer.
func (e *Expectation) HangUp() *Expectation { return e.Send(&Reply{Lost: true}) }

// Send answers as a Reply says: with a part of it, a wrong ResponseTo, garbage, silence, or by closing the connection
// afterwards. It panics if the reply is nil or has nothing in it, or if the expectation is already answered, as do Reply, Fail
// and HangUp.
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
	close(e.sealed)
	return e
}

// Request waits until the message has come, and returns a copy of it, which stays valid. If it does not come, a test ends,
// so that Request must be called on the test's own goroutine; without a test Request returns nil.
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

// respond answers a message by what is expected, or as handshakes are. It returns nil if there is no answer.
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
	p.fail("%s came on connection %d, expected was %s", in.Command, in.ConnID, expected)
	return nil
}

// meet returns the expectation that a message meets, nil if it meets none, and the name of what was expected.
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

// answer waits until the test has said how a message is answered.
func (p *BlackPipe) answer(e *Expectation, in *incoming) *Reply {
	if in.wire.Unanswered() {
		return &Reply{}
	}
	t := time.NewTimer(p.config.patience)
	defer t.Stop()
	select {
	case <-e.sealed:
	case <-p.broken:
		return nil
	case <-t.C:
		p.fail("%s was not given an answer within %v", e.command, p.config.patience)
		return nil
	}
	if sleep(in.done, e.delay) != nil {
		return nil
	}
	reply := *e.reply
	return &reply
}

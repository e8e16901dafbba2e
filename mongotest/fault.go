package mongotest

import (
	"net"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// Request is one message from a client, as middleware sees it. It and its Body are valid only until the reply has been sent;
// copy it if it is needed longer.
type Request struct {
	Member    int   // the member to which it was sent, -1 if it was sent to a mongos
	Mongos    int   // the mongos to which it was sent, -1 if it was sent to a member
	ConnID    int64 // the connection, counted from 1
	RequestID int32
	Command   string // the command's name, as the client wrote it
	Database  string
	// Body is the command, with its document sequences as arrays.
	Body bson.Raw
	// Application reports whether an application sends such a command, unlike hello, ping, endSessions and others that drivers
	// send for themselves.
	Application bool
	LSID        bson.Raw // the session's document, nil if there is none
	TxnNumber   int64    // -1 if there is none

	done       <-chan struct{} // closed when the connection is
	client     net.Conn        // the connection; closed, it still lets the message be executed
	afterApply func()
}

// Fault says what happens to one message. The fields stand in the order in which they act. The zero Fault does nothing. The
// functions run on the connection's goroutine, with no lock held, and may call every method of the deployment but Close.
type Fault struct {
	// Before runs when the message has come, before anything is executed.
	Before func()
	// Delay is how long the message waits before it is executed.
	Delay time.Duration
	// Late, if it is not nil, closes the connection at once; the message is executed when the channel is closed, as one that the network
	// has delayed. Its reply reaches nobody.
	Late <-chan struct{}
	// LoseRequest closes the connection; the message is not executed.
	LoseRequest bool
	// Error is sent as the reply; the message is not executed.
	Error *CommandError
	// AfterApply runs when the primary has applied a write or committed a transaction, before the wait for its write concern. Until it
	// returns, or the primary steps down, no secondary gets the write. Other commands do not run it.
	AfterApply func()
	// After runs when the command was executed and the wait for its write concern has ended, before the reply is sent.
	After func()
	// LoseReply closes the connection; the reply is not sent.
	LoseReply bool
	// CutReplyAfter is how many bytes of the reply LoseReply sends before it closes the connection.
	CutReplyAfter int
	// Silent changes LoseRequest and LoseReply: they leave the connection open, and nothing is sent on it again.
	Silent bool
}

// handle applies the fault to a message.
func (f *Fault) handle(r *Request, next Handler) *Reply {
	if f.Before != nil {
		f.Before()
	}
	if !testserver.Sleep(r.done, f.Delay) || f.Late != nil && r.await(f.Late) != nil {
		return nil
	}
	reply := f.reply(r, next)
	if reply == nil || f.LoseRequest {
		return reply
	}
	if f.After != nil {
		f.After()
	}
	if f.LoseReply {
		reply.Lost, reply.CutAfter, reply.Silent = true, f.CutReplyAfter, f.Silent
	}
	return reply
}

func (f *Fault) reply(r *Request, next Handler) *Reply {
	switch {
	case f.LoseRequest:
		return &Reply{Lost: true, Silent: f.Silent}
	case f.Error != nil:
		return &Reply{Error: f.Error}
	case f.AfterApply != nil:
		r.afterApply = f.AfterApply
	}
	return next(r)
}

// await closes the connection to the client and waits for a delayed message. It returns errHangUp if the server ends the connection before.
func (r *Request) await(arrival <-chan struct{}) error {
	_ = r.client.Close()
	select {
	case <-arrival:
		return nil
	case <-r.done:
		return call.ErrHangUp
	}
}

// Decide returns middleware that calls decide for each message and applies the Fault that it returns. It panics if decide is
// nil.
func Decide(decide func(*Request) Fault) Middleware {
	if decide == nil {
		panic("mongotest: Decide: the function is nil")
	}
	return func(r *Request, next Handler) *Reply {
		f := decide(r)
		return f.handle(r, next)
	}
}

// While returns middleware that applies a fault to every message for which holds returns true. It panics if holds is nil.
func While(holds func(*Request) bool, f Fault) Middleware {
	if holds == nil {
		panic("mongotest: While: the condition is nil")
	}
	return Decide(func(r *Request) Fault {
		if holds(r) {
			return f
		}
		return Fault{}
	})
}

// Always returns middleware that applies a fault to every message.
func Always(f Fault) Middleware { return Decide(func(*Request) Fault { return f }) }

// FaultOnce returns middleware that applies a fault to the first message only.
func FaultOnce(f Fault) Middleware { return Times(1, f) }

// Times returns middleware that applies a fault to the first n messages.
func Times(n int, f Fault) Middleware {
	var seen atomic.Int64
	return While(func(*Request) bool { return seen.Add(1) <= int64(n) }, f)
}

package mongotest

import (
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Request is one message from a client, as middleware sees it. It and its Body are valid only until the message has been
// answered; what is kept longer must be copied.
type Request struct {
	Member    int   // to which member it was sent, -1 if it was sent to a mongos
	Mongos    int   // to which mongos, -1 if it was sent to a member
	ConnID    int64 // over which connection
	RequestID int32
	Command   string // its name, as the client wrote it
	Database  string
	// Body is the command; document sequences are folded into it as arrays.
	Body bson.Raw
	// Application tells that the command works on data: it is no hello, ping, endSessions and the like.
	Application bool
	LSID        bson.Raw // the session's document, nil if there is none
	TxnNumber   int64    // -1 if there is none

	done       <-chan struct{} // closed when the connection is
	afterApply func()
}

// Fault is what is done to one message. The zero Fault does nothing. Its functions run on the connection's goroutine,
// with no lock held, and may call anything of the replica set but Close.
type Fault struct {
	// Before runs on receipt, before anything is executed.
	Before func()
	// Delay is waited before executing.
	Delay time.Duration
	// LoseRequest keeps the message from being executed and closes the connection.
	LoseRequest bool
	// Error is answered in place of executing.
	Error *CommandError
	// AfterApply runs after a write was applied at the primary, before its write concern is waited for. Until it returns,
	// or the primary steps down, no secondary gets what was applied. Other commands do not run it.
	AfterApply func()
	// After runs after the command was executed and its write concern was satisfied or failed, before the reply.
	After func()
	// LoseReply keeps the reply from the client and closes the connection.
	LoseReply bool
	// CutReplyAfter, with LoseReply, is how many bytes of the reply are sent all the same.
	CutReplyAfter int
	// Silent, with LoseRequest or LoseReply, leaves the connection open and never answers on it again.
	Silent bool
}

// handle does the fault to a message.
func (f *Fault) handle(r *Request, next Handler) *Reply {
	if f.Before != nil {
		f.Before()
	}
	if sleep(r.done, f.Delay) != nil {
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

// sleep waits for d, or returns errHangUp as soon as done is closed.
func sleep(done <-chan struct{}, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-done:
		return errHangUp
	}
}

// Decide returns middleware that does to each message what decide says. It panics if decide is nil.
func Decide(decide func(*Request) Fault) Middleware {
	if decide == nil {
		panic("mongotest: Decide: the function is nil")
	}
	return func(r *Request, next Handler) *Reply {
		f := decide(r)
		return f.handle(r, next)
	}
}

// While returns middleware that does a fault to every message for which holds is true. It panics if holds is nil.
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

// Always returns middleware that does a fault to every message until it is taken out of use.
func Always(f Fault) Middleware { return Decide(func(*Request) Fault { return f }) }

// Once returns middleware that does a fault to the first message only.
func Once(f Fault) Middleware { return Times(1, f) }

// Times returns middleware that does a fault to the first n messages.
func Times(n int, f Fault) Middleware {
	var seen atomic.Int64
	return While(func(*Request) bool { return seen.Add(1) <= int64(n) }, f)
}

package couchbasetest

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// Fault says what happens to one request. The fields stand in the order in which they act. The zero Fault does nothing. The
// functions run with no lock held, and may call every method of the cluster but Close.
type Fault struct {
	// Before runs when the request has come, before anything is executed.
	Before func()
	// Delay is how long the request waits before it is executed.
	Delay time.Duration
	// Late, if it is not nil, closes the connection at once; the request is executed when the channel is closed, as one that the network
	// has delayed, unless the node's process has ended before. Its reply reaches nobody.
	Late <-chan struct{}
	// LoseRequest closes the connection; the request is not executed.
	LoseRequest bool
	// Status, if it is not 0, is answered; the request is not executed. Value is the value of that reply.
	Status Status
	Value  []byte
	// After runs when the request was executed, before the reply is sent.
	After func()
	// ReplyDelay is how long the reply waits before it is sent.
	ReplyDelay time.Duration
	// StatusAfter, if it is not 0, is answered in place of what the executed request answers.
	StatusAfter Status
	// LoseReply closes the connection; the reply is not sent.
	LoseReply bool
	// CutReplyAfter is how many bytes of the reply LoseReply sends before it closes the connection.
	CutReplyAfter int
	// Silent changes LoseRequest and LoseReply: they leave the connection open, and nothing is sent on it again.
	Silent bool
}

// handle applies the fault to a request.
func (f *Fault) handle(r *Request, next Handler) *Reply {
	if f.Before != nil || f.After != nil || f.Delay > 0 || f.ReplyDelay > 0 || f.Late != nil {
		r.Aside()
	}
	if f.Before != nil {
		f.Before()
	}
	if !testserver.Sleep(r.done, f.Delay) || f.Late != nil && !r.await(f.Late) {
		return nil
	}
	switch {
	case f.LoseRequest:
		return &Reply{Lost: true, Silent: f.Silent}
	case f.Status != 0:
		return &Reply{Status: f.Status, Value: slices.Clone(f.Value), JSON: len(f.Value) > 0}
	}
	reply := next(r)
	if reply == nil {
		return nil
	}
	return f.after(r, reply)
}

func (f *Fault) after(r *Request, reply *Reply) *Reply {
	if f.After != nil {
		f.After()
	}
	if !testserver.Sleep(r.done, f.ReplyDelay) {
		return nil
	}
	if f.StatusAfter != 0 {
		reply = refusal(f.StatusAfter)
	}
	if f.LoseReply || f.Late != nil {
		reply.Lost, reply.CutAfter, reply.Silent = true, f.CutReplyAfter, f.Silent
	}
	return reply
}

// await closes the connection to the client and waits for a delayed request. It reports false if the node's process or the cluster ends
// before.
func (r *Request) await(arrival <-chan struct{}) bool {
	c := r.x.cluster
	c.mu.Lock()
	died := r.x.node.died
	c.mu.Unlock()
	r.x.conn.close()
	select {
	case <-arrival:
		return true
	case <-died:
	case <-c.done:
	}
	return false
}

// Decide returns middleware that calls decide for each request and applies the Fault that it returns. It panics if decide is nil.
func Decide(decide func(*Request) Fault) Middleware {
	if decide == nil {
		panic("couchbasetest: Decide: the function is nil")
	}
	return func(r *Request, next Handler) *Reply {
		f := decide(r)
		return f.handle(r, next)
	}
}

// While returns middleware that applies a fault to every request for which holds returns true. It panics if holds is nil.
func While(holds func(*Request) bool, f Fault) Middleware {
	if holds == nil {
		panic("couchbasetest: While: the condition is nil")
	}
	return Decide(func(r *Request) Fault {
		if holds(r) {
			return f
		}
		return Fault{}
	})
}

// Always returns middleware that applies a fault to every request.
func Always(f Fault) Middleware { return Decide(func(*Request) Fault { return f }) }

// FaultOnce returns middleware that applies a fault to the first request only.
func FaultOnce(f Fault) Middleware { return Times(1, f) }

// Times returns middleware that applies a fault to the first n requests.
func Times(n int, f Fault) Middleware {
	var seen atomic.Int64
	return While(func(*Request) bool { return seen.Add(1) <= int64(n) }, f)
}

// For returns middleware that applies a fault to the requests of a time that begins with the first of them.
func For(d time.Duration, f Fault) Middleware {
	var end atomic.Int64
	return While(func(*Request) bool {
		now := time.Now().UnixNano()
		end.CompareAndSwap(0, now+int64(d))
		return now < end.Load()
	}, f)
}

// OnKey returns middleware that lets only requests for one key pass through m.
func OnKey(key string, m Middleware) Middleware {
	return func(r *Request, next Handler) *Reply {
		if r.Key != key {
			return next(r)
		}
		return m(r, next)
	}
}

package site

import "runtime/debug"

// Answer returns the answer of a server in words, and whether the client does not get it.
type Answer[Reply any] func(Reply) (words string, lost bool)

// Pass executes a message to which no failure happens, and notes what becomes of it.
func Pass[Request, Reply any, Handler ~func(Request) Reply](a *Arrival, r Request, next Handler, answer Answer[Reply]) Reply {
	reply := next(r)
	a.executed(answer(reply))
	return reply
}

// Happening is how a failure happened. The failure sets it, before its middleware returns.
type Happening struct {
	Missed bool // it has not happened, though its message came
	Late   bool // the message is delivered only when the failures have ended
}

// Strike executes a message through the middleware of its failure, and notes what becomes of both. The failure has not happened if its
// middleware is nil.
func Strike[Request, Reply any, Handler ~func(Request) Reply, Middleware ~func(Request, Handler) Reply](
	a *Arrival, r Request, next Handler, middleware Middleware, answer Answer[Reply], h *Happening,
) Reply {
	if middleware == nil {
		a.missed()
		return Pass(a, r, next, answer)
	}
	executed := false
	reply := middleware(r, func(r Request) Reply {
		executed = true
		return Pass(a, r, next, answer)
	})
	words, lost := answer(reply)
	a.struck(executed, words, lost)
	switch {
	case h.Missed:
		a.missed()
	case h.Late:
		a.late()
	}
	return reply
}

// Panicked is deferred around a failure that a user may have written. If it has panicked, that is a problem of the run, and reply makes the
// message one that is lost.
func (b *Base) Panicked(a *Arrival, reply func()) {
	if failure := recover(); failure != nil {
		b.Problem("the failure %s panicked: %v\n%s", a.Failure, failure, debug.Stack())
		reply()
	}
}

package site

import "runtime/debug"

// Answer returns the answer of a server in words, and whether the client does not get it.
type Answer[Reply any] func(Reply) (words string, lost bool)

// Pass executes a message through the middleware of its failure, and notes what becomes of it. The middleware is nil if no failure
// happens.
func Pass[Request, Reply any, Handler ~func(Request) Reply, Middleware ~func(Request, Handler) Reply](
	a *Arrival, r Request, next Handler, middleware Middleware, answer Answer[Reply],
) Reply {
	executed := false
	watched := func(r Request) Reply {
		executed = true
		reply := next(r)
		a.executed(answer(reply))
		return reply
	}
	if middleware == nil {
		return watched(r)
	}
	reply := middleware(r, watched)
	words, lost := answer(reply)
	a.struck(executed, words, lost)
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

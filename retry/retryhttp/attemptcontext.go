package retryhttp

import (
	"context"
	"io"
)

// For an engine with a time limit for each attempt, the context of an attempt ends when the attempt returns. The body of a response
// is read later. So the request gets a context of its own, which ends with the attempt's until there is a response, and from then
// on with the body.
type attemptContext struct {
	cancel context.CancelCauseFunc
	stop   func() bool // stops the watching of the attempt's context
}

// detached returns a context under caller that ends when attempt ends, until release is called.
func detached(caller, attempt context.Context) (context.Context, *attemptContext) {
	ctx, cancel := context.WithCancelCause(caller)
	stop := context.AfterFunc(attempt, func() { cancel(context.Cause(attempt)) })
	return ctx, &attemptContext{cancel, stop}
}

// release lets the context live until the body is closed. It reports whether the attempt's context was still alive.
func (a *attemptContext) release() bool { return a.stop() }

// end ends the context. An attempt without a time limit has no context of its own.
func (a *attemptContext) end() {
	if a != nil {
		a.stop()
		a.cancel(nil)
	}
}

// body returns the body of a response whose context ends when it is closed. The body of a protocol switch can also be written to.
func (a *attemptContext) body(b io.ReadCloser) io.ReadCloser {
	if w, ok := b.(io.Writer); ok {
		return struct {
			io.ReadCloser
			io.Writer
		}{&endingBody{b, a}, w}
	}
	return &endingBody{b, a}
}

type endingBody struct {
	io.ReadCloser
	context *attemptContext
}

// Close implements io.Closer.
func (b *endingBody) Close() error {
	defer b.context.end()
	return b.ReadCloser.Close()
}

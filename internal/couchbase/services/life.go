package services

import (
	"context"
	"errors"
	"time"
)

// life is the context of an operation. It ends with its caller's, with the client, and when the time is up. Its deadline is that of the
// attempts; a result whose rows are read gets new time with each row, so that only a result that stands still ends.
type life struct {
	context.Context //nolint:containedctx // life is a context
	deadline        time.Time
	timeout         time.Duration
	timer           *time.Timer
	cancel          context.CancelCauseFunc
	forget          func() bool // makes the client forget the operation
	stop            func() bool // makes forget not be called by the end of the context
}

// live returns the context of an operation that begins. end must be called.
func (c *Client) live(ctx context.Context, timeout time.Duration) *life {
	l := &life{timeout: timeout, deadline: time.Now().Add(timeout)}
	l.Context, l.cancel = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(timeout, func() { l.cancel(context.DeadlineExceeded) })
	l.forget = context.AfterFunc(c.closed, func() { l.cancel(ErrClosed) }) //nolint:contextcheck // the end of the client is a second one
	// A result that nobody closes ends with its context. Then the client must not remember it either.
	l.stop = context.AfterFunc(l.Context, func() { l.forget() }) //nolint:contextcheck // l.Context is made from ctx
	return l
}

// Deadline returns the end of the attempts.
func (l *life) Deadline() (time.Time, bool) {
	if d, ok := l.Context.Deadline(); ok && d.Before(l.deadline) {
		return d, true
	}
	return l.deadline, true
}

// Err returns context.DeadlineExceeded also where the operation's own time was up.
func (l *life) Err() error {
	err := l.Context.Err()
	if err != nil && errors.Is(context.Cause(l.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// renew gives the whole time anew. If it was up, the context has ended already, and does not end again.
func (l *life) renew() { l.timer.Reset(l.timeout) }

// end ends the operation.
func (l *life) end() {
	l.stop()
	l.forget()
	l.timer.Stop()
	l.cancel(context.Canceled)
}

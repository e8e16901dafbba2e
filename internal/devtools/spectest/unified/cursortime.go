package unified

import (
	"context"
	"time"
)

// limitedCursor is a cursor whose operation had timeoutMS. The clients take the time limit of a call from its context, and none from
// the context that created the cursor: so each call gets the context that stands for the option.
type limitedCursor struct {
	cursor
	timeout  time.Duration
	lifetime time.Time // the end of a cursor's lifetime; zero if each iteration has the timeout (timeoutMode)
}

// limited gives the calls on the result of an operation its timeoutMS, if the result is a cursor.
func limited(op *operation, began time.Time, result any, err error) (any, error) {
	c, ok := result.(cursor)
	ms, given := wholeNumber(op.Arguments.Lookup("timeoutMS"))
	if !ok || !given || ms <= 0 {
		return result, err
	}
	l := limitedCursor{cursor: c, timeout: time.Duration(ms) * time.Millisecond}
	if kind, ok := op.Arguments.Lookup("cursorType").StringValueOK(); op.Name != "createChangeStream" && (!ok || kind == "nonTailable") {
		l.lifetime = began.Add(l.timeout)
	}
	return cursor(l), err
}

func (c limitedCursor) Next(ctx context.Context) bool {
	ctx, cancel := c.context(ctx)
	defer cancel()
	return c.cursor.Next(ctx)
}

func (c limitedCursor) TryNext(ctx context.Context) bool {
	ctx, cancel := c.context(ctx)
	defer cancel()
	return c.cursor.TryNext(ctx)
}

// Close has the whole timeout, unless the call has its own.
func (c limitedCursor) Close(ctx context.Context) error {
	if _, ok := ctx.Deadline(); ok {
		return c.cursor.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.cursor.Close(ctx)
}

// context returns the context of one iteration.
func (c limitedCursor) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if !c.lifetime.IsZero() {
		return context.WithDeadline(ctx, c.lifetime)
	}
	return context.WithTimeout(ctx, c.timeout)
}

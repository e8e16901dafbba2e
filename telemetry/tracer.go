package telemetry

import (
	"context"
	"slices"
	"time"
)

// Tracer has the functions that a client calls. Each of them may be nil. They must be safe for concurrent use, and a Tracer must not be changed
// after a client was given it.
type Tracer struct {
	// ClientOpened is told of a new client, and ClientClosed of its end: that nothing of it runs any more.
	ClientOpened func(c *Client)
	ClientClosed func(c *Client)

	OperationBegan func(ctx context.Context, o *Operation) context.Context
	// OperationEnded gets the error that the application gets, or nil. If a command may have had credentials, the error is without the server's text.
	// ErrorType and Rows of the operation are set now.
	OperationEnded func(ctx context.Context, o *Operation, err error)

	// EncodingBegan is told that the value of a document is encoded, where that is a step of its own (Couchbase).
	EncodingBegan func(ctx context.Context, o *Operation) context.Context
	EncodingEnded func(ctx context.Context, o *Operation, err error)

	SelectionBegan func(ctx context.Context, s *Selection) context.Context
	// SelectionWaits is told that no server is suitable yet.
	SelectionWaits func(ctx context.Context, s *Selection, atMost time.Duration)
	SelectionEnded func(ctx context.Context, s *Selection, r *Selected)

	AttemptBegan func(ctx context.Context, a *Attempt) context.Context
	AttemptEnded func(ctx context.Context, a *Attempt, r *Result)

	// Decided is told what follows an attempt that failed.
	Decided func(ctx context.Context, d *Decision)

	// TransactionBegan gets the context of the first operation, or that of the method that runs the whole transaction, and the time when the
	// application started the transaction.
	TransactionBegan func(ctx context.Context, started time.Time) context.Context
	// TransactionEnded says whether the transaction ended by a commit, and gets the error of that, or nil; else it was aborted. It is called once,
	// also if the application commits again after an error.
	TransactionEnded func(ctx context.Context, commit bool, err error)

	// Pool is told of the life of connection pools and of their connections, checkouts included.
	Pool func(ctx context.Context, e *PoolEvent)

	// Passive says that the functions only look: none changes what a pointer is to, none calls a method of the client, such as Disconnect, and none keeps
	// a pointer or a context: that of an Operation until OperationEnded has returned, all others until the function itself has. Then a client uses
	// their memory again, and need not count the calls, which costs it less.
	Passive bool
}

// Join returns a tracer that calls all the others, in their order. Nil ones are left out. It returns nil if there is none.
func Join(tracers ...*Tracer) *Tracer {
	tracers = slices.DeleteFunc(slices.Clone(tracers), func(t *Tracer) bool { return t == nil })
	switch len(tracers) {
	case 0:
		return nil
	case 1:
		return tracers[0]
	}
	joined := *tracers[0]
	for _, t := range tracers[1:] {
		joined = Tracer{
			ClientOpened:     both(joined.ClientOpened, t.ClientOpened),
			ClientClosed:     both(joined.ClientClosed, t.ClientClosed),
			OperationBegan:   began(joined.OperationBegan, t.OperationBegan),
			OperationEnded:   ended(joined.OperationEnded, t.OperationEnded),
			EncodingBegan:    began(joined.EncodingBegan, t.EncodingBegan),
			EncodingEnded:    ended(joined.EncodingEnded, t.EncodingEnded),
			SelectionBegan:   began(joined.SelectionBegan, t.SelectionBegan),
			SelectionWaits:   ended(joined.SelectionWaits, t.SelectionWaits),
			SelectionEnded:   ended(joined.SelectionEnded, t.SelectionEnded),
			AttemptBegan:     began(joined.AttemptBegan, t.AttemptBegan),
			AttemptEnded:     ended(joined.AttemptEnded, t.AttemptEnded),
			Decided:          happened(joined.Decided, t.Decided),
			TransactionBegan: began(joined.TransactionBegan, t.TransactionBegan),
			TransactionEnded: ended(joined.TransactionEnded, t.TransactionEnded),
			Pool:             happened(joined.Pool, t.Pool),
			Passive:          joined.Passive && t.Passive,
		}
	}
	return &joined
}

// began returns a function that calls both, nil if both are. Each gets the context of the one before.
func began[T any](a, b func(context.Context, T) context.Context) func(context.Context, T) context.Context {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t T) context.Context {
		for _, f := range []func(context.Context, T) context.Context{a, b} {
			if made := f(ctx, t); made != nil {
				ctx = made
			}
		}
		return ctx
	}
}

// ended, happened and both return a function that calls two others, nil if both are. The second is called also if the first panics.
func ended[T, U any](a, b func(context.Context, T, U)) func(context.Context, T, U) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t T, u U) {
		defer b(ctx, t, u)
		a(ctx, t, u)
	}
}

func happened[T any](a, b func(context.Context, T)) func(context.Context, T) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t T) {
		defer b(ctx, t)
		a(ctx, t)
	}
}

func both[T any](a, b func(T)) func(T) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(t T) {
		defer b(t)
		a(t)
	}
}

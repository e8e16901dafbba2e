package telemetry

import (
	"context"
	"slices"
	"time"
)

// Tracer has the functions that a client calls. Each of them may be nil. They must be safe for concurrent use, and a Tracer must not be changed
// after a client was given it.
type Tracer struct {
	OperationBegan func(ctx context.Context, o *Operation) context.Context
	// OperationEnded gets the error that the application gets, or nil.
	OperationEnded func(ctx context.Context, o *Operation, err error)

	AttemptBegan func(ctx context.Context, a *Attempt) context.Context
	AttemptEnded func(ctx context.Context, a *Attempt, r *Result)

	// TransactionBegan gets the context of the first operation, or that of the method that runs the whole transaction, and the time when the
	// application started the transaction.
	TransactionBegan func(ctx context.Context, started time.Time) context.Context
	// TransactionEnded says whether the transaction ended by a commit, and gets the error of that, or nil; else it was aborted. It is called once,
	// also if the application commits again after an error.
	TransactionEnded func(ctx context.Context, commit bool, err error)
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
			OperationBegan:   began(joined.OperationBegan, t.OperationBegan),
			OperationEnded:   ended(joined.OperationEnded, t.OperationEnded),
			AttemptBegan:     began(joined.AttemptBegan, t.AttemptBegan),
			AttemptEnded:     ended(joined.AttemptEnded, t.AttemptEnded),
			TransactionBegan: began(joined.TransactionBegan, t.TransactionBegan),
			TransactionEnded: ended(joined.TransactionEnded, t.TransactionEnded),
		}
	}
	return &joined
}

// began returns a function that calls both, nil if both are.
func began[T any](a, b func(context.Context, T) context.Context) func(context.Context, T) context.Context {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t T) context.Context { return b(a(ctx, t), t) }
}

// ended returns a function that calls both, nil if both are.
func ended[T, U any](a, b func(context.Context, T, U)) func(context.Context, T, U) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t T, u U) {
		defer b(ctx, t, u) // also if the first one panics
		a(ctx, t, u)
	}
}

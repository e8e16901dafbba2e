package retry

import "context"

// Operation describes an operation to the engine.
type Operation struct {
	// Strategy decides about the retries of this operation. Nil means the engine's strategy. Make a strategy once, not for each
	// operation: making one allocates memory.
	Strategy Strategy
	// Name is for observers, for example "orders.insert". It is best one of few: it labels logs and metrics.
	Name string
	// Endpoint is the server's address, if it is known before the attempts. It is the endpoint of every failure that names none.
	// See also [Options.EndpointBreaker].
	Endpoint string
	// Data is the caller's own. Strategies and observers can read it. See also [WithData].
	Data any
	// Idempotency says whether doing the whole operation twice does harm to the caller (RFC 0049's idempotent flag). An attempt's
	// own idempotency can be better, if its server recognises repetitions; it is never worse.
	Idempotency Idempotency
}

// OperationState is the view that a [Strategy] has of an operation under way.
type OperationState struct {
	Operation
	// Retries is the number of retries so far; after an attempt with [Failure.Progress], of those since then.
	Retries int
	// Reasons are the reasons of the earlier failures, without the one that is decided about; after an attempt with
	// [Failure.Progress], of those since then.
	Reasons Reasons
}

// AttemptFunc makes one attempt and returns how it failed, or a Failure without an Err. n is the attempt's number; the first is 0. An
// attempt that a breaker stopped has a number too.
type AttemptFunc func(ctx context.Context, n int) Failure

type dataKey struct{}

// WithData returns a context with data for strategies and observers. It is the Data of every operation under that context
// that has no Data of its own.
func WithData(ctx context.Context, data any) context.Context {
	return context.WithValue(ctx, dataKey{}, data)
}

// Data returns the data of [WithData], or nil.
func Data(ctx context.Context) any { return ctx.Value(dataKey{}) }

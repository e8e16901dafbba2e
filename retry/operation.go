package retry

import "context"

// Operation describes to the engine what is to be done.
type Operation struct {
	// Strategy decides about retries. Nil means the engine's. Make it once: a struct in an interface costs an allocation.
	Strategy Strategy
	// Data is the caller's, for strategies and observers to look at. See also [WithData].
	Data any
	// Effect is what doing the whole operation twice would mean to the caller (RFC 0049's idempotent flag). An attempt's
	// own effect may be better, if the server that it meets recognises repetitions; it is never worse.
	Effect Effect
}

// Request is an operation under way, as a [Strategy] sees it.
type Request struct {
	Operation
	// Retries is how often the operation was tried again so far.
	Retries int
	// Reasons are those of the attempts before the failure that is decided about.
	Reasons Reasons
}

// Attempt makes one attempt, the n-th, 0 being the first, and returns how it failed, or the zero Failure. An attempt that
// a breaker did not let through has its number too.
type Attempt func(ctx context.Context, n int) Failure

type dataKey struct{}

// WithData attaches data to a context, for strategies and observers to look at: it is the Data of every operation done
// under that context that has none of its own.
func WithData(ctx context.Context, data any) context.Context {
	return context.WithValue(ctx, dataKey{}, data)
}

// Data returns what [WithData] attached, or nil.
func Data(ctx context.Context) any { return ctx.Value(dataKey{}) }

package retry

import "context"

// Value calls f like [Run] and returns its result. After an error the result is the zero value.
func Value[T any](
	ctx context.Context, idempotency Idempotency, classify func(error) Class, f func(context.Context) (T, error),
) (T, error) {
	return ValueWith(ctx, runEngine, idempotency, classify, f)
}

// ValueWith calls f like [Engine.Run] and returns its result. After an error the result is the zero value. (It is a function
// because methods of Go have no type parameters of their own.)
func ValueWith[T any](
	ctx context.Context, e *Engine, idempotency Idempotency, classify func(error) Class, f func(context.Context) (T, error),
) (T, error) {
	var value, none T
	if f == nil {
		return none, errNilFunction
	}
	err := e.Run(ctx, idempotency, classify, func(ctx context.Context) (err error) {
		value, err = f(ctx)
		return err
	})
	if err != nil {
		return none, err
	}
	return value, nil
}

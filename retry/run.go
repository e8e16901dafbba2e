package retry

import (
	"context"
	"errors"
	"time"
)

// Class says what an error means for another attempt. A function that classifies errors for [Run] returns it.
type Class uint8

// The classes. The zero value is the careful one: return it for every error that you do not know.
const (
	ClassUnknown   Class = iota // nothing is known: not retried, and the operation may have been applied
	ClassPermanent              // the server answered that it did nothing, and another attempt would not help: not retried
	ClassTemporary              // the server answered that it did nothing, and it may do it later: retried
	ClassNotSent                // nothing was sent, for example because no connection could be made: retried
	ClassNoAnswer               // something may have been sent and no answer came: retried unless NotIdempotent
)

// classFailures are the failures that the classes stand for, without their error.
var classFailures = [...]Failure{
	ClassUnknown:   {Stage: StageInFlight, Reason: ReasonUnknown},
	ClassPermanent: {Stage: StageAnswered, Reason: ReasonUnknown},
	ClassTemporary: {Stage: StageAnswered, Reason: ReasonServiceResponseCodeIndicated},
	ClassNotSent:   {Stage: StageBeforeSending, Reason: ReasonConnectionFailed},
	ClassNoAnswer:  {Stage: StageInFlight, Reason: ReasonNetworkError},
}

// failure returns the failure that an error of this class is.
func (c Class) failure(err error) Failure {
	f := classFailures[ClassUnknown]
	if int(c) < len(classFailures) {
		f = classFailures[c]
	}
	if f.Stage != StageInFlight && unknownWithin(err) {
		f.Stage = StageInFlight // an earlier attempt within f may have been applied, whatever became of the last one
	}
	f.Err = err
	return f
}

// unknownWithin reports whether err holds an *Error whose outcome is unknown. It allocates nothing for an error that holds no
// other one.
func unknownWithin(err error) bool {
	switch err.(type) { //nolint:errorlint // only asks whether errors.As can find anything
	case *Error, interface{ Unwrap() error }, interface{ Unwrap() []error }, interface{ As(target any) bool }:
		var inner *Error
		return errors.As(err, &inner) && !inner.OutcomeKnown()
	}
	return false
}

// The limits of [Run].
const (
	runAttempts   = 5
	runBackoffMin = 50 * time.Millisecond
)

// runEngine is the engine of [Run].
var runEngine = newEngine(Limited(runAttempts, BestEffort(BackoffOptions{Min: runBackoffMin})))

// Run calls f until it succeeds or may not be called again, at most 5 times. The delay after n retries is random, uniform
// between 50 ms and 50 ms x 2^n, so all delays together are at most 0.75 s. Run sets no deadline: the one of ctx holds, also
// for f, and a delay that would pass it ends the operation at once. For other limits, a budget or a breaker make an engine
// with [New] and use [Engine.Run].
//
// idempotency says whether calling f twice does harm. classify says what an error of f means; it is not called for nil. Whatever
// it returns, an operation whose context has ended is not retried, and one with [NotIdempotent] is retried only when
// nothing can have been applied. For that, f must do one thing: classify sees the error of its last step only.
//
// Run returns nil or an [*Error]. If ctx, classify or f is nil it returns another error and does not call f. If ctx has ended
// already, it returns the error of ctx and does not call f either. It is safe for concurrent use if f and classify are. Both
// are called in the caller's goroutine.
func Run(ctx context.Context, idempotency Idempotency, classify func(error) Class, f func(context.Context) error) error {
	return runEngine.Run(ctx, idempotency, classify, f)
}

var (
	errNilClassify = errors.New("retry: Run: classify is nil; it must be a function that says which errors may be retried")
	errNilFunction = errors.New("retry: Run: f is nil; it must be the function to run")
)

// Run calls f like the function [Run], with the strategy, the deadline mode, the budget, the breaker and the observer of the
// engine.
func (e *Engine) Run(ctx context.Context, idempotency Idempotency, classify func(error) Class, f func(context.Context) error) error {
	switch {
	case classify == nil:
		return errNilClassify
	case f == nil:
		return errNilFunction
	case ctx != nil && ctx.Err() != nil:
		return ctx.Err()
	}
	return e.Do(ctx, Operation{Idempotency: idempotency}, func(ctx context.Context, _ int) Failure {
		if err := f(ctx); err != nil {
			return classify(err).failure(err)
		}
		return Failure{}
	})
}

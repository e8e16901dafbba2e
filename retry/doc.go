// Package retry runs operations again when that is safe and can help, and says afterwards what happened.
//
// An attempt of an operation fails at a stage, for a reason, and the operation has an idempotency. A retry is safe if nothing was
// sent, or if the server answered that it did nothing, or if doing the operation twice does no harm. The package never makes
// a retry that is not safe. The rules are those of Couchbase's RFC 0049 and of the MongoDB driver
// specifications for retryable reads, retryable writes and client backpressure.
//
// [Run] calls a function until it succeeds, with growing delays. It needs to know two things: the operation's [Idempotency], and
// what an error means, as a [Class]: the same error means different things in different programs.
//
//	err := retry.Run(ctx, retry.Idempotent, classify, func(ctx context.Context) error {
//		return store.Put(ctx, key, value)
//	})
//	func classify(err error) retry.Class {
//		switch {
//		case errors.Is(err, store.ErrBusy): // it answered that it did nothing
//			return retry.ClassTemporary
//		case errors.Is(err, io.ErrUnexpectedEOF): // the connection was lost before the answer
//			return retry.ClassNoAnswer
//		default: // not known, for example "the key is too long": not retried
//			return retry.ClassUnknown
//		}
//	}
//
// # The whole engine
//
// An [Engine], made by [New], runs operations with limits of your own:
//
//   - A [Strategy] decides whether there is another attempt, and after which delay: [RetryOnce], [UntilDeadline], [BestEffort],
//     [Limited], [Overload], or a function of your own.
//   - The deadline is that of the context. No delay begins that would pass it, unless [DeadlineCapDelay] is set.
//   - [Options.AttemptTimeout] limits the time of each attempt, and [Options.MaxRetryAfter] the delay that a server can ask for.
//   - A [Budget] limits the retries of all operations together, also of several engines.
//   - A [Breaker] stops attempts while most of them fail: one for the engine, or one for each endpoint.
//   - An [Observer] receives every failed attempt, every decision and every end. Package retryslog has one that logs.
//
// [Engine.Run] is Run with these. [Engine.Do] takes an [AttemptFunc], which describes its failures itself: the [Stage], the
// [Reason], the endpoint and more. Package retryhttp does that for HTTP requests.
//
// A failed operation returns an [*Error]: it holds the first and the last attempts, says why there was no other (its [StopReason]), and
// whether the outcome is known ([Error.OutcomeKnown]). errors.Is and errors.As find the error of the last attempt in it.
//
// A success costs a few nanoseconds and no memory. The memory of an operation does not grow with its attempts. The package starts no
// goroutines and does no I/O: the caller's goroutine waits for the delays. Nothing but the context's deadline or [Limited] ends the retries of [BestEffort] and [UntilDeadline]. There is no hedging,
// no bulkhead and no rate limiting.
package retry

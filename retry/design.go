package retry

// For those who change the engine.
//
//   - The engine copies as few structs as it can: Do passes pointers to values on its stack to afterFailure. A strategy that
//     looks only at the number of retries is a rule, which the engine follows without a copy; other strategies get copies of the
//     request and the failure.
//   - One atomic addition counts a success for budget and breaker together, without the time. At the next failure the budget adds
//     the tokens of the successes since the last one (budget.refill), and the breaker's window distributes these successes over
//     that time (window.spread).
//   - A permit holds the number of the breaker's latest change of state: an attempt that began before that change changes
//     nothing. A half-open probe that never ends prevents other attempts for one open timeout only.
//   - retry.StageInFlight is the zero Stage and retry.NotIdempotent the zero Idempotency, so a field that is not set has the
//     careful value.
//   - Budget.mu guards the tokens and the engines that share them, Breaker.mu the state and the window; each is taken alone, and only after a
//     failure, by Budget.Tokens, or while the breaker is not closed. breakers.mu guards the map of endpoints, and is taken alone for an endpoint
//     that is not in it.
//
// Begin with engine.go, loop.go, decide.go. Then run.go (Run); failure.go, operation.go, reason.go, reasons.go; strategies:
// strategy.go, rule.go, limited.go, overload.go, backoff.go; budget.go, breaker.go, window.go; error.go, observer.go.

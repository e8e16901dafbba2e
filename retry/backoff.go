package retry

import "time"

var controlledLadder = [...]time.Duration{
	time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, time.Second,
}

// ControlledBackoff is the delay before the next attempt after retries earlier ones, for reasons that are always
// retried: 1, 10, 50, 100, 500, then 1000 ms (RFC 0049, "Controlled Backoff for Always Retry").
func ControlledBackoff(retries int) time.Duration {
	return controlledLadder[min(max(retries, 0), len(controlledLadder)-1)]
}

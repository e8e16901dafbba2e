package retry

import "time"

// DeadlineMode is what happens when a delay would pass the deadline.
type DeadlineMode uint8

const (
	// GiveUp fails at once: waiting for a deadline that is known to pass helps nobody (MongoDB).
	GiveUp DeadlineMode = iota
	// CapDelay waits for what is left and then fails without sending (RFC 0049, "Capping the Retry Duration").
	CapDelay
)

// verdict is what follows from a failure.
type verdict struct {
	why   Why
	delay time.Duration // waited also if the deadline comes before the next attempt, which is then not made
}

// withinDeadline holds a delay against the time that is left before a deadline that there is.
func withinDeadline(delay time.Duration, now, deadline time.Time, mode DeadlineMode) verdict {
	left := deadline.Sub(now)
	switch {
	case left > delay:
		return verdict{why: Retried, delay: delay}
	case left <= 0 || mode == GiveUp:
		return verdict{why: DeadlineWouldPass}
	default:
		return verdict{why: DeadlineWouldPass, delay: left}
	}
}

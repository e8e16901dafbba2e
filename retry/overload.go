package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	overloadBase = 100 * time.Millisecond
	overloadCap  = 10 * time.Second
)

// Overload adds MongoDB's client backpressure rule to another strategy: an overloaded server is tried again after a
// random, growing delay, and once a server was overloaded, Retries limits all of the operation's retries.
type Overload struct {
	// Retries is MongoDB's maxAdaptiveRetries; the specification's default is 2.
	Retries int
	// Otherwise decides where no overload was met.
	Otherwise Strategy
}

// RetryAfter implements [Strategy].
func (o Overload) RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error) {
	overloaded := failure.Reason == ReasonOverloaded
	switch {
	case !overloaded && !request.Reasons.Has(ReasonOverloaded):
		return o.Otherwise.RetryAfter(ctx, request, failure)
	case request.Retries >= o.Retries:
		return Decline(WhyAttemptsUsed), nil
	case overloaded:
		return After(OverloadBackoff(request.Retries+1, failure.BaseBackoff)), nil
	default:
		return After(0), nil
	}
}

func (o Overload) validate() error {
	if o.Retries < 0 {
		return fmt.Errorf("Overload.Retries is %d; it must not be negative", o.Retries)
	}
	if err := validStrategy(o.Otherwise); err != nil {
		return fmt.Errorf("Overload.Otherwise: %w", err)
	}
	return nil
}

// OverloadBackoff is the delay before retry n (1 is the first) of an overloaded server: a random part of
// min(10 s, base x 2^n), base being the server's own or, if that is not positive, 100 ms.
func OverloadBackoff(n int, base time.Duration) time.Duration {
	if base <= 0 {
		base = overloadBase
	}
	return time.Duration(rand.Float64() * float64(doubled(base, n, overloadCap)))
}

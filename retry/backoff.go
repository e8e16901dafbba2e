package retry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The bounds of [BackoffOptions] unless others are given.
const (
	defaultBackoffMin = time.Millisecond
	defaultBackoffMax = 500 * time.Millisecond
)

// BackoffOptions configure the delays of [BestEffort]. The delay after n retries is random, uniform between Min and
// min(Max, Min x 2^n). This is RFC 0049's exponential backoff.
type BackoffOptions struct {
	// Min and Max bound the delay. Zero means 1 ms and 500 ms. Min must not be more than Max.
	Min, Max time.Duration
	// Calculator, if set, replaces the rule above: it returns the delay after so many retries. A negative delay means none.
	// It must be safe for concurrent use. Min and Max must be zero then.
	Calculator func(retries int) time.Duration
}

func (o BackoffOptions) bounds() (low, high time.Duration) {
	low, high = defaultBackoffMin, defaultBackoffMax
	if o.Min != 0 {
		low = o.Min
	}
	if o.Max != 0 {
		high = o.Max
	}
	return low, high
}

func (o BackoffOptions) validate() error {
	low, high := o.bounds()
	switch {
	case o.Min < 0:
		return fmt.Errorf("BackoffOptions.Min is %v; it must not be negative", o.Min)
	case o.Max < 0:
		return fmt.Errorf("BackoffOptions.Max is %v; it must not be negative", o.Max)
	case o.Calculator != nil && (o.Min != 0 || o.Max != 0):
		return errors.New("BackoffOptions has a Calculator and Min or Max; it must have only one of the two")
	case low > high:
		return fmt.Errorf("BackoffOptions.Min is %v, more than its Max, %v; it must be at most that", low, high)
	}
	return nil
}

// calculator returns the function that the options describe.
func (o BackoffOptions) calculator() func(retries int) time.Duration {
	if o.Calculator != nil {
		return o.Calculator
	}
	low, high := o.bounds()
	return func(retries int) time.Duration {
		// The bound is capped before the delay is drawn, so that delays stay random at the cap.
		return low + rand.N(doubled(low, retries, high)-low+1)
	}
}

var controlledDelays = [...]time.Duration{
	time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, time.Second,
}

// ControlledBackoff returns the delay after so many retries for a reason that is always retried: 1, 10, 50, 100, 500, then
// 1000 ms each time (RFC 0049, "Controlled Backoff for Always Retry").
func ControlledBackoff(retries int) time.Duration {
	return controlledDelays[min(max(retries, 0), len(controlledDelays)-1)]
}

const (
	overloadBase = 100 * time.Millisecond
	overloadCap  = 10 * time.Second
)

// OverloadBackoff returns the delay before retry n of an overloaded server; the first retry has n = 1. The delay is random,
// uniform between 0 and min(10 s, base x 2^n). A base that is not positive means 100 ms. The rule is that of the MongoDB
// specification for client backpressure.
func OverloadBackoff(n int, base time.Duration) time.Duration {
	if base <= 0 {
		base = overloadBase
	}
	return time.Duration(rand.Float64() * float64(doubled(base, n, overloadCap)))
}

// doubled returns min(limit, base x 2^n).
func doubled(base time.Duration, n int, limit time.Duration) time.Duration {
	for ; n > 0 && base < limit; n-- {
		if base > limit/2 {
			return limit
		}
		base *= 2
	}
	return min(base, limit)
}

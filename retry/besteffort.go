package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The bounds of best effort's delays, unless it is given others.
const (
	bestEffortMin = time.Millisecond
	bestEffortMax = 500 * time.Millisecond
)

// BestEffort tries again until something else ends it, the deadline above all (RFC 0049). After n retries the delay is
// random, uniform between Min and min(Max, Min x 2^n).
type BestEffort struct {
	// Min and Max bound the delays. Zero means 1 ms and 500 ms.
	Min, Max time.Duration
	// Calculator returns the delay after retries earlier ones, in the place of the rule above. With it Min and Max must be
	// zero. It must be safe for concurrent use.
	Calculator func(retries int) time.Duration
}

// RetryAfter implements [Strategy].
func (b BestEffort) RetryAfter(_ context.Context, request Request, _ Failure) (Action, error) {
	return After(b.delay(request.Retries)), nil
}

func (b BestEffort) delay(retries int) time.Duration {
	if b.Calculator != nil {
		return b.Calculator(retries)
	}
	low, high := b.bounds()
	// Capped before the random part is taken, so that it never vanishes at the cap.
	high = doubled(low, retries, high)
	return low + rand.N(high-low+1)
}

func (b BestEffort) bounds() (low, high time.Duration) {
	low, high = bestEffortMin, bestEffortMax
	if b.Min != 0 {
		low = b.Min
	}
	if b.Max != 0 {
		high = b.Max
	}
	return low, high
}

func (b BestEffort) validate() error {
	low, high := b.bounds()
	switch {
	case b.Min < 0:
		return fmt.Errorf("BestEffort.Min is %v; it must not be negative", b.Min)
	case b.Max < 0:
		return fmt.Errorf("BestEffort.Max is %v; it must not be negative", b.Max)
	case b.Calculator != nil && (b.Min != 0 || b.Max != 0):
		return errors.New("BestEffort has a Calculator and Min or Max; only one of the two can hold")
	case low > high:
		return fmt.Errorf("BestEffort.Min is %v, more than its Max, %v", low, high)
	}
	return nil
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

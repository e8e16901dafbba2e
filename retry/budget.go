package retry

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// BudgetOptions limit the retries of all operations of an engine together, so that many clients of a server in trouble
// do not keep it there. In any stretch of time at most Burst + PerSecond x seconds + Ratio x successes retries are granted,
// less those given back because they were not made after all. A retry is granted before its delay. Reasons that are always
// retried are not counted.
type BudgetOptions struct {
	// Ratio is how many retries each success allows, from 0 to 1.
	Ratio float64
	// PerSecond is how many retries each second allows, whatever succeeds; not negative.
	PerSecond float64
	// Burst is how many retries can be saved up, and how many there are to begin with; at least 1.
	Burst float64
}

// DefaultBudget returns the defaults. With them the load that 500 clients of 10 operations a second offer a server which
// lost half its capacity stays, in every second, below 1.2 times the load they offered before (docs/ENGINE.md). Raise Burst
// in a program whose operations must all survive one failover together: to how many of them are under way at once.
func DefaultBudget() *BudgetOptions { return &BudgetOptions{Ratio: 0.1, PerSecond: 0.5, Burst: 1} }

func (o *BudgetOptions) validate() error {
	switch {
	case !(o.Ratio >= 0 && o.Ratio <= 1):
		return fmt.Errorf("retry: Budget.Ratio is %v; it must be from 0 to 1", o.Ratio)
	case !(o.PerSecond >= 0) || math.IsInf(o.PerSecond, 1):
		return fmt.Errorf("retry: Budget.PerSecond is %v; it must be a number that is not negative", o.PerSecond)
	case !(o.Burst >= 1) || math.IsInf(o.Burst, 1):
		return fmt.Errorf("retry: Budget.Burst is %v; it must be a number that is at least 1", o.Burst)
	}
	return nil
}

// budget is a token bucket. What time and successes have added is found out when a token is asked for.
type budget struct {
	BudgetOptions
	successes *atomic.Uint64 // of the engine: it only grows

	mu      sync.Mutex
	tokens  float64
	at      time.Time
	counted uint64 // of the successes
}

func newBudget(o BudgetOptions, successes *atomic.Uint64, now time.Time) *budget {
	return &budget{BudgetOptions: o, successes: successes, tokens: o.Burst, at: now}
}

// take takes the token of one retry, and tells whether there was one.
func (b *budget) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.tokens+rounding < 1 {
		return false
	}
	b.tokens = max(0, b.tokens-1)
	return true
}

// giveBack returns the token of a retry that was not made.
func (b *budget) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.Burst, b.tokens+1)
}

func (b *budget) refill(now time.Time) {
	successes := b.successes.Load()
	earned := b.Ratio * float64(successes-b.counted)
	if passed := now.Sub(b.at); passed > 0 { // callers read the clock before they come to the lock
		earned += b.PerSecond * passed.Seconds()
		b.at = now
	}
	b.counted = successes
	b.tokens = min(b.Burst, b.tokens+earned)
}

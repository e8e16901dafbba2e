package retry

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// BudgetOptions limit the retries of all operations of an engine together, so that the retries of many clients do not keep
// an overloaded server down. They are copied when the engine is made.
//
// The budget is a token bucket. Each retry costs one token, which is paid before the retry's delay and paid back if the
// retry is not made after all. In any period at most Burst + PerSecond x seconds + Ratio x successes tokens are paid, less
// those paid back. A retry for a reason that is always retried costs nothing.
type BudgetOptions struct {
	// Ratio is the number of tokens that each success adds; from 0 to 1.
	Ratio float64
	// PerSecond is the number of tokens that each second adds; not negative.
	PerSecond float64
	// Burst is the largest number of tokens, and the number at the beginning; at least 1.
	Burst float64
}

// DefaultBudgetOptions returns the defaults: a ratio of 0.1, 0.5 tokens a second, a burst of 1. They are small on purpose:
// 500 clients with 10 operations a second each add less than 20 % to the load of a server that lost half of its capacity,
// in every second (docs/ENGINE.md has the simulation). If all operations under way must survive one failover, set Burst to
// their number.
func DefaultBudgetOptions() *BudgetOptions {
	return &BudgetOptions{Ratio: 0.1, PerSecond: 0.5, Burst: 1}
}

func (o *BudgetOptions) validate() error {
	switch {
	case !(o.Ratio >= 0 && o.Ratio <= 1):
		return fmt.Errorf("BudgetOptions.Ratio is %v; it must be from 0 to 1", o.Ratio)
	case !(o.PerSecond >= 0) || math.IsInf(o.PerSecond, 1):
		return fmt.Errorf("BudgetOptions.PerSecond is %v; it must be a number that is not negative", o.PerSecond)
	case !(o.Burst >= 1) || math.IsInf(o.Burst, 1):
		return fmt.Errorf("BudgetOptions.Burst is %v; it must be a number that is at least 1", o.Burst)
	}
	return nil
}

// budget is the token bucket. It adds the tokens of time and successes only when a token is asked for.
type budget struct {
	options   BudgetOptions
	successes *atomic.Uint64 // of the engine; it only grows

	mu      sync.Mutex
	tokens  float64
	at      time.Time // until when time has added tokens
	counted uint64    // successes that have added tokens
}

func newBudget(o BudgetOptions, successes *atomic.Uint64, now time.Time) *budget {
	return &budget{options: o, successes: successes, tokens: o.Burst, at: now}
}

// pay pays the token of one retry. It reports whether there was one.
func (b *budget) pay(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.tokens+rounding < 1 {
		return false
	}
	b.tokens = max(0, b.tokens-1)
	return true
}

// payBack returns the token of a retry that was not made.
func (b *budget) payBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.options.Burst, b.tokens+1)
}

func (b *budget) refill(now time.Time) {
	successes := b.successes.Load()
	earned := b.options.Ratio * float64(successes-b.counted)
	if passed := now.Sub(b.at); passed > 0 { // negative if another caller read the clock later and locked first
		earned += b.options.PerSecond * passed.Seconds()
		b.at = now
	}
	b.counted = successes
	b.tokens = min(b.options.Burst, b.tokens+earned)
}

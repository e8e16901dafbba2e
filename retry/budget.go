package retry

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// BudgetOptions configure a [Budget]. They are copied when the budget is made.
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
	case !(o.PerSecond >= 0) || o.PerSecond > math.MaxFloat64:
		return fmt.Errorf("BudgetOptions.PerSecond is %v; it must be a number that is not negative", o.PerSecond)
	case !(o.Burst >= 1) || o.Burst > math.MaxFloat64:
		return fmt.Errorf("BudgetOptions.Burst is %v; it must be a number that is at least 1", o.Burst)
	}
	return nil
}

// Budget limits the retries of all operations together, so that the retries of many clients do not keep an overloaded server
// down. Several engines can share one: give it to each of them in [Options]. It is safe for concurrent use. It need not be
// closed.
//
// It is a token bucket. Each retry costs one token, which is paid before the retry's delay and paid back if the retry is not
// made after all. In any period at most Burst + PerSecond x seconds + Ratio x successes tokens are paid, less those paid back.
// A retry for a reason that is always retried costs nothing.
type Budget struct {
	options BudgetOptions

	mu      sync.Mutex
	engines []*counter // the successes of the engines that share it; each only grows
	gone    uint64     // the successes of engines that are no longer there
	tokens  float64
	at      time.Time // until when time has added tokens
	counted uint64    // successes that have added tokens
}

// counter counts the successes of one engine. An engine adds to no other one, so that engines which share a budget do not slow
// each other down; for the same reason a counter fills a cache line.
type counter struct {
	atomic.Uint64
	_ [56]byte
}

// NewBudget returns a budget with Burst tokens, or an error that names the option and its rule.
func NewBudget(o BudgetOptions) (*Budget, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	return newBudget(o, time.Now()), nil
}

func newBudget(o BudgetOptions, now time.Time) *Budget {
	return &Budget{options: o, tokens: o.Burst, at: now}
}

// Tokens returns the number of tokens that are there now. A retry needs one.
func (b *Budget) Tokens() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(time.Now())
	return b.tokens
}

// join adds an engine that counts its successes in c. The budget forgets c when the engine is garbage.
func (b *Budget) join(e *Engine, c *counter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.engines = append(b.engines, c)
	runtime.AddCleanup(e, b.leave, c)
}

// leave removes an engine, whose successes stay counted.
func (b *Budget) leave(c *counter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone += c.Load()
	b.engines = slices.DeleteFunc(b.engines, func(other *counter) bool { return other == c })
}

// pay pays the token of one retry. It reports whether there was one. It adds the tokens of time and successes first: nothing
// else does, so that a success costs one addition.
func (b *Budget) pay(now time.Time) bool {
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
func (b *Budget) payBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.options.Burst, b.tokens+1)
}

func (b *Budget) refill(now time.Time) {
	successes := b.gone
	for _, c := range b.engines {
		successes += c.Load()
	}
	earned := b.options.Ratio * float64(successes-b.counted)
	if passed := now.Sub(b.at); passed > 0 { // negative if another caller read the clock later and locked first
		earned += b.options.PerSecond * passed.Seconds()
		b.at = now
	}
	b.counted = successes
	b.tokens = min(b.options.Burst, b.tokens+earned)
}

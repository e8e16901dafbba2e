package retry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBreakerOpen is the error of an attempt that an open breaker stopped before it was made.
var ErrBreakerOpen = errors.New("retry: the circuit breaker is open")

// BreakerState is the state of a [Breaker].
type BreakerState uint8

// The states of a breaker. A closed breaker can open, an open one becomes half-open, a half-open one closes or opens again.
const (
	BreakerClosed   BreakerState = iota // it permits every attempt
	BreakerOpen                         // it permits none
	BreakerHalfOpen                     // one attempt, the half-open probe, is under way to find out whether the endpoint works again
)

// String returns the state in words.
func (s BreakerState) String() string {
	switch s {
	case BreakerClosed:
		return "closed"
	case BreakerOpen:
		return "open"
	case BreakerHalfOpen:
		return "half-open"
	}
	return "unknown state"
}

// Health is the information that one attempt gives a breaker about the endpoint.
type Health uint8

// The kinds of information.
const (
	HealthGood    Health = iota // the endpoint works, even if its answer was an error
	HealthBad                   // the endpoint does not work
	HealthUnknown               // the attempt shows nothing about the endpoint
)

// BreakerOptions configure a [Breaker]. They are copied when the breaker is made.
type BreakerOptions struct {
	// Volume is the number of attempts that the window must contain before the breaker can open; at least 1.
	Volume int
	// Percent is the percentage of failed attempts in the window at which the breaker opens; above 0, at most 100.
	Percent float64
	// Window is how long an attempt counts, to a tenth of it; at least 10 ns.
	Window time.Duration
	// OpenTimeout is how long an open breaker permits nothing before it permits a half-open probe, and how long it waits for that probe's
	// result before it permits another; positive.
	OpenTimeout time.Duration
	// Judge says what a failed attempt shows about the endpoint. Nil means [JudgeFailure]. It must be safe for concurrent use.
	// An attempt that the caller cancelled is [HealthUnknown]; Judge is not called for it.
	Judge func(Failure) Health
	// OnChange is called at each change of state, in order. It must be quick and must not call the breaker.
	OnChange func(from, to BreakerState)
}

// DefaultBreakerOptions returns the defaults: the breaker opens when half of at least 20 attempts in 60 s failed, and permits
// a half-open probe after 5 s.
func DefaultBreakerOptions() *BreakerOptions {
	return &BreakerOptions{Volume: 20, Percent: 50, Window: time.Minute, OpenTimeout: 5 * time.Second}
}

func (o *BreakerOptions) validate() error {
	switch {
	case o.Volume < 1:
		return fmt.Errorf("BreakerOptions.Volume is %d; it must be at least 1", o.Volume)
	case !(o.Percent > 0 && o.Percent <= 100):
		return fmt.Errorf("BreakerOptions.Percent is %v; it must be above 0 and at most 100", o.Percent)
	case o.Window < slots:
		return fmt.Errorf("BreakerOptions.Window is %v; it must be at least 10 ns", o.Window)
	case o.OpenTimeout <= 0:
		return fmt.Errorf("BreakerOptions.OpenTimeout is %v; it must be positive", o.OpenTimeout)
	}
	return nil
}

// JudgeFailure is the rule of a breaker without a Judge of its own. An answer for [ReasonUnknown] is [HealthGood]: the
// endpoint works and refused this request alone. An attempt that was never sent because its message could not be built,
// no server was found or another breaker was open is [HealthUnknown]. Every other failure is [HealthBad].
func JudgeFailure(f Failure) Health {
	switch {
	case f.Stop == StopNotBuilt, f.Stop == StopNoServer, f.Reason == ReasonCircuitBreakerOpen:
		return HealthUnknown
	case f.Stage == StageAnswered && f.Reason == ReasonUnknown:
		return HealthGood
	default:
		return HealthBad
	}
}

// Breaker is a circuit breaker: it stops attempts at an endpoint that keeps failing, and permits one half-open probe at a time until
// the endpoint works again. An [Engine] can have one for all its operations. A client of several endpoints has one for each
// and calls [Breaker.Allow] within its attempts; the failure of an attempt that was stopped has the reason
// [ReasonCircuitBreakerOpen]. It is safe for concurrent use. It need not be closed.
type Breaker struct {
	options   BreakerOptions
	successes *atomic.Uint64

	// word is the number of the latest change of state, with the state in its two lowest bits. It is written under mu.
	word atomic.Uint64

	mu     sync.Mutex
	window window
	until  time.Time // when the next half-open probe is permitted
}

// NewBreaker returns a closed breaker, or an error that names the option and its rule.
func NewBreaker(o BreakerOptions) (*Breaker, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	return newBreaker(o, new(atomic.Uint64), time.Now()), nil
}

func newBreaker(o BreakerOptions, successes *atomic.Uint64, now time.Time) *Breaker {
	if o.Judge == nil {
		o.Judge = JudgeFailure
	}
	b := &Breaker{options: o, successes: successes}
	b.word.Store(firstPermit.word)
	b.window.start(o.Window, successes.Load(), now)
	return b
}

const (
	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// Permit is the permission to make one attempt. The zero Permit is none.
type Permit struct{ word uint64 }

// firstPermit is the permit of every attempt before the first change of state.
var firstPermit = Permit{1 << stateBits}

func (p Permit) ok() bool            { return p.word != 0 }
func (p Permit) state() BreakerState { return BreakerState(p.word & stateMask) }

// State returns the state. An open breaker becomes half-open only when [Breaker.Allow] permits a half-open probe.
func (b *Breaker) State() BreakerState { return BreakerState(b.word.Load() & stateMask) }

// Allow reports whether one attempt may be made. If so, pass the permit and the attempt's result to [Breaker.Done].
func (b *Breaker) Allow() (Permit, bool) {
	p := b.permit()
	return p, p.ok()
}

// permit is Allow, small enough to be inlined.
func (b *Breaker) permit() Permit {
	w := b.word.Load()
	if w&stateMask != uint64(BreakerClosed) {
		w = b.probe()
	}
	return Permit{w}
}

// probe returns the word of a permit for a half-open probe, or 0 if it is too early for one.
func (b *Breaker) probe() uint64 {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.State() != BreakerClosed {
		if now.Before(b.until) {
			return 0
		}
		b.become(BreakerHalfOpen)
		b.until = now.Add(b.options.OpenTimeout)
	}
	return b.word.Load()
}

// Judge returns what an attempt shows about the endpoint, to be passed to [Breaker.Done]: [HealthGood] without an error, [HealthUnknown] if the
// caller cancelled ctx, and otherwise what [BreakerOptions].Judge says. It is safe for concurrent use if that is.
func (b *Breaker) Judge(ctx context.Context, f Failure) Health {
	switch {
	case f.Err == nil:
		return HealthGood
	case ended(ctx) == StopCancelled:
		return HealthUnknown
	default:
		return b.options.Judge(f)
	}
}

// Done records the result of an attempt that the breaker permitted. An attempt that began before the latest change of state
// changes nothing.
func (b *Breaker) Done(p Permit, h Health) {
	if h == HealthGood && p.state() == BreakerClosed {
		if b.isLatest(p) {
			b.successes.Add(1)
		}
		return
	}
	b.done(p, h, time.Now())
}

// isLatest reports whether the state is the same as when the permit was given.
func (b *Breaker) isLatest(p Permit) bool { return p.word == b.word.Load() }

func (b *Breaker) done(p Permit, h Health, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isLatest(p) {
		return
	}
	switch p.state() {
	case BreakerClosed:
		b.window.add(h, b.successes.Load(), now)
		if h == HealthBad && b.tooManyFailed() {
			b.open(now.Add(b.options.OpenTimeout))
		}
	case BreakerHalfOpen:
		b.probeDone(h, now)
	case BreakerOpen: // permits nothing
	}
}

// probeDone leaves the half-open state.
func (b *Breaker) probeDone(h Health, now time.Time) {
	switch h {
	case HealthGood:
		b.window.start(b.options.Window, b.successes.Load(), now)
		b.become(BreakerClosed)
	case HealthBad:
		b.open(now.Add(b.options.OpenTimeout))
	case HealthUnknown:
		b.open(now) // another half-open probe is permitted at once
	}
}

func (b *Breaker) open(until time.Time) {
	b.until = until
	b.become(BreakerOpen)
}

func (b *Breaker) become(to BreakerState) {
	from := b.State()
	b.word.Store((b.word.Load()>>stateBits+1)<<stateBits | uint64(to))
	if b.options.OnChange != nil && from != to {
		b.options.OnChange(from, to)
	}
}

// rounding is the largest error of a sum of fractions.
const rounding = 1e-6

func (b *Breaker) tooManyFailed() bool {
	succeeded, failed := b.window.counts()
	all := succeeded + failed
	return all+rounding >= float64(b.options.Volume) && failed*100+rounding >= b.options.Percent*all
}

// openUntil returns the time until which the breaker permits nothing unless its half-open probe succeeds earlier. It is zero for a
// closed breaker.
func (b *Breaker) openUntil() time.Time {
	if b.State() == BreakerClosed {
		return time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.State() == BreakerClosed {
		return time.Time{}
	}
	return b.until
}

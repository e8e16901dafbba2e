package retry

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBreakerOpen is the error of an attempt that a breaker did not let through.
var ErrBreakerOpen = errors.New("retry: the circuit breaker is open")

// BreakerState is the state of a [Breaker].
type BreakerState uint8

// The states of a breaker. A closed breaker can open, an open one becomes half-open, and a half-open one either of the others.
const (
	BreakerClosed   BreakerState = iota // everything passes
	BreakerOpen                         // nothing passes
	BreakerHalfOpen                     // one attempt, the canary, is under way to find out
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

// Outcome is what a breaker makes of an attempt.
type Outcome uint8

// The outcomes of an attempt.
const (
	OutcomeSucceeded Outcome = iota // the endpoint works, whatever the answer was
	OutcomeFailed                   // it does not
	OutcomeNeutral                  // nothing was learnt of it
)

// BreakerOptions configure a [Breaker].
type BreakerOptions struct {
	// Volume is how many attempts the window must have seen before the breaker opens; at least 1.
	Volume int
	// Percent is how many of a hundred of them must have failed for that; above 0, at most 100.
	Percent float64
	// Window is how far back attempts count, to a tenth of it; at least 10 ns.
	Window time.Duration
	// Sleep is how long nothing is let through before a canary is, and how long its outcome is waited for before another
	// may go; positive.
	Sleep time.Duration
	// Judge says what a failed attempt tells of the endpoint. Nil: see [JudgeFailure]. The caller's cancellation is
	// neutral without its being asked.
	Judge func(Failure) Outcome
	// OnChange is told of each change of state, in order. It must be quick and must not call the breaker.
	OnChange func(from, to BreakerState)
}

// DefaultBreaker returns the defaults: 20 attempts in 60 s of which half failed; a canary after 5 s.
func DefaultBreaker() *BreakerOptions {
	return &BreakerOptions{Volume: 20, Percent: 50, Window: time.Minute, Sleep: 5 * time.Second}
}

func (o *BreakerOptions) validate() error {
	switch {
	case o.Volume < 1:
		return fmt.Errorf("retry: Breaker.Volume is %d; it must be at least 1", o.Volume)
	case !(o.Percent > 0 && o.Percent <= 100):
		return fmt.Errorf("retry: Breaker.Percent is %v; it must be above 0 and at most 100", o.Percent)
	case o.Window < slots:
		return fmt.Errorf("retry: Breaker.Window is %v; it must be at least 10 ns", o.Window)
	case o.Sleep <= 0:
		return fmt.Errorf("retry: Breaker.Sleep is %v; it must be positive", o.Sleep)
	}
	return nil
}

// JudgeFailure is how a breaker judges failures unless it is told otherwise: an answer that is nobody's trouble (answered,
// for a reason that is not known to be worth a retry) shows that the endpoint works; what was never to be sent, or another
// breaker stopped, shows nothing; anything else failed.
func JudgeFailure(f Failure) Outcome {
	switch {
	case f.Refuse == WhyNotBuilt, f.Refuse == WhyNoServer, f.Reason == ReasonCircuitBreakerOpen:
		return OutcomeNeutral
	case f.Stage == StageResponded && f.Reason == ReasonUnknown:
		return OutcomeSucceeded
	default:
		return OutcomeFailed
	}
}

// Breaker keeps attempts away from an endpoint that keeps failing: closed, open, half-open with a canary. An [Engine] can
// have one for all that it does; a client of many endpoints has one for each and calls [Breaker.Allow] within its attempts,
// whose failure then has the reason [ReasonCircuitBreakerOpen]. It is safe for concurrent use and holds no resources.
type Breaker struct {
	BreakerOptions
	successes *atomic.Uint64

	// word is the number of the latest change of state, with the state in its two lowest bits. It is written under mu.
	word atomic.Uint64

	mu     sync.Mutex
	window window
	until  time.Time // when a canary, or the next one, may go
}

// NewBreaker returns a closed breaker, or an error that names the option and its rule.
func NewBreaker(o BreakerOptions) (*Breaker, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return newBreaker(o, new(atomic.Uint64), time.Now()), nil
}

func newBreaker(o BreakerOptions, successes *atomic.Uint64, now time.Time) *Breaker {
	if o.Judge == nil {
		o.Judge = JudgeFailure
	}
	b := &Breaker{BreakerOptions: o, successes: successes}
	b.word.Store(firstPermit.word)
	b.window.start(o.Window, successes.Load(), now)
	return b
}

const (
	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// Permit lets one attempt through. The zero Permit does not.
type Permit struct{ word uint64 }

// firstPermit is what a breaker grants until its state first changes.
var firstPermit = Permit{1 << stateBits}

func (p Permit) ok() bool            { return p.word != 0 }
func (p Permit) state() BreakerState { return BreakerState(p.word & stateMask) }

// State returns the state. An open breaker becomes half-open only when an attempt asks to pass.
func (b *Breaker) State() BreakerState { return BreakerState(b.word.Load() & stateMask) }

// Allow asks to make one attempt. If it may be made, [Breaker.Done] must be told what came of the permit.
func (b *Breaker) Allow() (Permit, bool) {
	p := b.enter()
	return p, p.ok()
}

// enter is Allow, small enough to be inlined.
func (b *Breaker) enter() Permit {
	w := b.word.Load()
	if w&stateMask != uint64(BreakerClosed) {
		w = b.canary()
	}
	return Permit{w}
}

// canary lets one attempt through when the time has come. It returns the permit's word.
func (b *Breaker) canary() uint64 {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.State() != BreakerClosed {
		if now.Before(b.until) {
			return 0
		}
		b.become(BreakerHalfOpen)
		b.until = now.Add(b.Sleep)
	}
	return b.word.Load()
}

// Done tells the breaker what came of an attempt that it let through. What began before the latest change of state
// changes nothing.
func (b *Breaker) Done(p Permit, o Outcome) {
	if o == OutcomeSucceeded && p.state() == BreakerClosed {
		if b.isLatest(p) {
			b.successes.Add(1)
		}
		return
	}
	b.done(p, o, time.Now())
}

// isLatest tells whether the state has not changed since the permit was given.
func (b *Breaker) isLatest(p Permit) bool { return p.word == b.word.Load() }

func (b *Breaker) done(p Permit, o Outcome, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isLatest(p) {
		return
	}
	switch p.state() {
	case BreakerClosed:
		b.window.add(o, b.successes.Load(), now)
		if o == OutcomeFailed && b.tooManyFailed() {
			b.open(now.Add(b.Sleep))
		}
	case BreakerHalfOpen:
		b.learn(o, now)
	case BreakerOpen: // lets nothing through
	}
}

// learn takes in what the canary found.
func (b *Breaker) learn(o Outcome, now time.Time) {
	switch o {
	case OutcomeSucceeded:
		b.window.start(b.Window, b.successes.Load(), now)
		b.become(BreakerClosed)
	case OutcomeFailed:
		b.open(now.Add(b.Sleep))
	case OutcomeNeutral:
		b.open(now) // the next one may go
	}
}

func (b *Breaker) open(until time.Time) {
	b.until = until
	b.become(BreakerOpen)
}

func (b *Breaker) become(to BreakerState) {
	from := b.State()
	b.word.Store((b.word.Load()>>stateBits+1)<<stateBits | uint64(to))
	if b.OnChange != nil && from != to {
		b.OnChange(from, to)
	}
}

// rounding is what sums of fractions may be off by.
const rounding = 1e-6

func (b *Breaker) tooManyFailed() bool {
	succeeded, failed := b.window.counts()
	all := succeeded + failed
	return all+rounding >= float64(b.Volume) && failed*100+rounding >= b.Percent*all
}

// openUntil returns until when a breaker lets nothing through, unless its canary succeeds before; the zero time if it is
// closed.
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

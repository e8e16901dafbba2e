package retry

import (
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Reason is the reason of a failure. Reasons can be compared: two are equal only if the same call of [NewReason] made them.
// The zero Reason is [ReasonUnknown], which is never retried.
//
// It is a number, so that a Failure has no more than 64 bytes: above that each success would cost twice the time.
type Reason struct{ bits uint16 } // its place in reasons, above two bits for its flags

// mostReasons is the number of reasons that a program can make.
const mostReasons = math.MaxUint16 >> flagBits

const flagBits = 2

// reasons has the names of all reasons. The first is the unknown one. A new reason is added to a copy.
var (
	reasons   atomic.Pointer[[]string]
	newReason sync.Mutex
)

// Flag is one of the two flags that RFC 0049 gives a reason.
type Flag uint8

// The flags.
const (
	// FlagAllowsNonIdempotent: an answer for this reason means that nothing was applied, so operations that are not idempotent
	// may be retried too.
	FlagAllowsNonIdempotent Flag = 1 << iota
	// FlagAlways: the failure is retried with the controlled backoff, whatever strategy, budget and breaker say. The flag
	// includes FlagAllowsNonIdempotent.
	FlagAlways
)

// NewReason returns a new reason. Call it once for each reason and keep the result in a variable: a program can make 16,382, and NewReason
// panics after that.
func NewReason(name string, flags ...Flag) Reason {
	var set Flag
	for _, f := range flags {
		set |= f
	}
	if set&FlagAlways != 0 {
		set |= FlagAllowsNonIdempotent
	}
	newReason.Lock()
	defer newReason.Unlock()
	all := []string{"UNKNOWN"}
	if p := reasons.Load(); p != nil {
		all = slices.Clone(*p)
	}
	if len(all) == mostReasons {
		panic("retry: NewReason was called too often; call it once for each reason")
	}
	all = append(all, name)
	reasons.Store(&all)
	return Reason{uint16(len(all)-1)<<flagBits | uint16(set&(FlagAllowsNonIdempotent|FlagAlways))} //nolint:gosec // at most mostReasons
}

// String returns the reason's name.
func (r Reason) String() string {
	if r == (Reason{}) {
		return "UNKNOWN"
	}
	return (*reasons.Load())[r.bits>>flagBits]
}

// AllowsNonIdempotentRetry reports whether operations that are not idempotent may be retried for this reason.
func (r Reason) AllowsNonIdempotentRetry() bool {
	return Flag(r.bits)&FlagAllowsNonIdempotent != 0
}

// AlwaysRetry reports whether the reason is retried with the controlled backoff, whatever the strategy says.
func (r Reason) AlwaysRetry() bool { return Flag(r.bits)&FlagAlways != 0 }

// Reasons is a set of reasons. It never contains [ReasonUnknown].
type Reasons struct {
	first [2]Reason // filled from the left; few reasons need no other memory
	more  []Reason
}

// Has reports whether reason is in the set.
func (r *Reasons) Has(reason Reason) bool {
	return reason != ReasonUnknown && (reason == r.first[0] || reason == r.first[1] || slices.Contains(r.more, reason))
}

// All iterates over the set in the order in which the reasons were added.
func (r *Reasons) All() iter.Seq[Reason] {
	return func(yield func(Reason) bool) {
		for _, reason := range r.first {
			if reason == ReasonUnknown || !yield(reason) {
				return
			}
		}
		for _, reason := range r.more {
			if !yield(reason) {
				return
			}
		}
	}
}

func (r *Reasons) add(reason Reason) {
	switch {
	case reason == ReasonUnknown, r.Has(reason):
	case r.first[0] == ReasonUnknown:
		r.first[0] = reason
	case r.first[1] == ReasonUnknown:
		r.first[1] = reason
	default:
		r.more = append(r.more, reason)
	}
}

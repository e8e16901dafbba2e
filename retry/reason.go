package retry

// Reason is the cause of a failure, as a comparable value: two reasons are equal only if they are the same one. The
// zero Reason is [UnknownReason], which is never retried.
type Reason struct{ *reason }

type reason struct {
	name                string
	allowsNonIdempotent bool
	always              bool
}

// NewReason returns a reason of your own, to be made once and kept. allowsNonIdempotent: an answer for this reason means
// that nothing was applied, so operations that are not idempotent may be tried again too.
func NewReason(name string, allowsNonIdempotent bool) Reason {
	return Reason{&reason{name: name, allowsNonIdempotent: allowsNonIdempotent}}
}

// String returns the reason's name.
func (r Reason) String() string {
	if r.reason == nil {
		return "UNKNOWN"
	}
	return r.name
}

// AllowsNonIdempotentRetry tells whether operations that are not idempotent may be tried again for this reason.
func (r Reason) AllowsNonIdempotentRetry() bool { return r.reason != nil && r.allowsNonIdempotent }

// AlwaysRetry tells whether the reason is retried with the controlled backoff whatever the strategy says.
func (r Reason) AlwaysRetry() bool { return r.reason != nil && r.always }

// UnknownReason is the reason of anything unexpected. It is refused before any strategy is asked.
var UnknownReason = Reason{}

// Reasons is a small set of reasons; those past its capacity are not kept.
type Reasons struct {
	set [4]Reason
	n   int
}

// Has tells whether reason is in the set.
func (r *Reasons) Has(reason Reason) bool {
	for _, have := range r.set[:r.n] {
		if have == reason {
			return true
		}
	}
	return false
}

func (r *Reasons) add(reason Reason) {
	if r.n < len(r.set) && !r.Has(reason) {
		r.set[r.n] = reason
		r.n++
	}
}

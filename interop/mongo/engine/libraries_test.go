package engine

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// All libraries try again once, at once. Their breakers follow one rule: of at least 20 calls in a minute, counted in
// tenths of it, half failed; then nothing passes for 5 s.
const (
	attempts = 2
	volume   = 20
	percent  = 50
	window   = time.Minute
	slice    = window / 10
	sleep    = 5 * time.Second
)

// library runs n operations on a service and stops at the first that fails. Each has a loop of its own, so that its call
// is a direct one, and passes a function that is made once before the loop: where it is made is not the library's cost.
type library interface {
	run(s *service, n int) error
}

// contender is a library as configured for each path; nil where it does not do that.
type contender struct {
	name    string
	figure  string  // how its figures begin; empty: it has none of its own
	success library // with all that it has of a budget and a breaker
	retry   library // without
}

// path returns the contender's library for the success path or for one retry, or nil.
func (c contender) path(fails uint64) library {
	if fails == first {
		return c.retry
	}
	return c.success
}

const (
	bareName    = "bare call"
	oursName    = "holdfast"
	guardedName = "holdfast, both on"
)

func contenders(t *testing.T) []contender {
	t.Helper()
	return []contender{
		{bareName, "", bare{}, bare{}},
		{oursName, "engine", newHoldfast(t, retry.DefaultBudgetOptions(), retry.DefaultBreakerOptions()), newHoldfast(t, nil, nil)},
		{guardedName, "", nil, newHoldfast(t, willingBudget(), willingBreaker())},
		{"failsafe-go", "failsafe", newFailsafeGuarded(), newFailsafe()},
		{"cenkalti/backoff", "backoff", newCenkalti(), newCenkalti()},
		{"avast/retry-go", "retrygo", newAvast(throttled()), newAvast()},
		{"sony/gobreaker", "gobreaker", newSony(), nil},
	}
}

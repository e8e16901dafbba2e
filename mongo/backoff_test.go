package mongo

import (
	"testing"
	"time"
)

// Convenient API for Transactions, "Sequence of Actions", step 2.
func TestTheBackoffOfATransaction(t *testing.T) {
	for _, c := range []struct {
		retry  int
		jitter float64
		want   time.Duration
	}{
		{1, 1, 7500 * time.Microsecond},
		{2, 1, 11250 * time.Microsecond},
		{2, 0.5, 5625 * time.Microsecond},
		{3, 0, 0},
		{11, 1, 432487792 * time.Nanosecond},
		{12, 1, 500 * time.Millisecond},
		{12, 0.1, 50 * time.Millisecond}, // the limit is before the jitter
		{100_000, 1, 500 * time.Millisecond},
	} {
		if got := transactionBackoff(c.retry, c.jitter); got != c.want {
			t.Errorf("retry %d, jitter %v: %v, want %v", c.retry, c.jitter, got, c.want)
		}
	}
}

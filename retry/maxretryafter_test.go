package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// "Failure.RetryAfter has a ceiling": a server must not hold an operation for an hour.
func TestAServerThatAsksForALongDelayEndsTheOperation(t *testing.T) {
	for _, c := range []struct {
		name       string
		ceiling    time.Duration
		retryAfter time.Duration
		reason     retry.Reason
		waited     time.Duration
		why        retry.Why
	}{
		{"as long as the default", 0, 30 * time.Second, retry.ReasonRateLimited, 30 * time.Second, retry.WhyRetried},
		{"longer than the default", 0, 30*time.Second + 1, retry.ReasonRateLimited, 0, retry.WhyRetryAfterTooLong},
		{"an hour", 0, time.Hour, retry.ReasonRateLimited, 0, retry.WhyRetryAfterTooLong},
		{"an hour, which the program permits", time.Hour, time.Hour, retry.ReasonRateLimited, time.Hour, retry.WhyRetried},
		{"more than a second, which is all that the program permits", time.Second, 2 * time.Second, retry.ReasonRateLimited, 0, retry.WhyRetryAfterTooLong},
		{"an hour, for a reason that is always retried", 0, time.Hour, notMyVBucket.Reason, 0, retry.WhyRetryAfterTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := retry.Failure{Err: errLost, Stage: retry.StageResponded, Reason: c.reason, RetryAfter: c.retryAfter}
				e := engine(t, retry.Options{Strategy: retry.Once(), MaxRetryAfter: c.ceiling})
				r := do(t.Context(), e, retry.Operation{}, failure, 1)
				if whyOf(r.err) != c.why || r.ended != c.waited {
					t.Errorf("after %v: %v; want %v after %v", r.ended, r.err, c.why, c.waited)
				}
			})
		})
	}
}

func TestTheDefaultCeiling(t *testing.T) {
	if retry.DefaultMaxRetryAfter != 30*time.Second {
		t.Errorf("the default is %v", retry.DefaultMaxRetryAfter)
	}
}

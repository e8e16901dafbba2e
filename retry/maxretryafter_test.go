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
		stop       retry.StopReason
	}{
		{"as long as the default", 0, 30 * time.Second, retry.ReasonRateLimited, 30 * time.Second, retry.NotStopped},
		{"longer than the default", 0, 30*time.Second + 1, retry.ReasonRateLimited, 0, retry.StopRetryAfterTooLong},
		{"an hour", 0, time.Hour, retry.ReasonRateLimited, 0, retry.StopRetryAfterTooLong},
		{"an hour, which the program permits", time.Hour, time.Hour, retry.ReasonRateLimited, time.Hour, retry.NotStopped},
		{"more than a second, which is all that the program permits", time.Second, 2 * time.Second, retry.ReasonRateLimited, 0, retry.StopRetryAfterTooLong},
		{"an hour, for a reason that is always retried", 0, time.Hour, notMyVBucket.Reason, 0, retry.StopRetryAfterTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := retry.Failure{Err: errLost, Stage: retry.StageAnswered, Reason: c.reason, RetryAfter: c.retryAfter}
				e := engine(t, retry.Options{Strategy: retry.RetryOnce(), MaxRetryAfter: c.ceiling})
				r := do(t.Context(), e, retry.Operation{}, failure, 1)
				if stopReasonOf(r.err) != c.stop || r.ended != c.waited {
					t.Errorf("after %v: %v; want %v after %v", r.ended, r.err, c.stop, c.waited)
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

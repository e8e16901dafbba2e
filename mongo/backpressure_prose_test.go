package mongo_test

import (
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of Client Backpressure (number 2 was removed), and "Connection Pool Backpressure" of SDAM's test plan.

// overloadedInserts runs an insert whose every attempt gets an overload error, and returns the delays before its retries.
func overloadedInserts(t *testing.T, baseBackoffMS int) []time.Duration {
	t.Helper()
	var began []time.Time
	in(t, nil, func(w *world) {
		w.seed()
		w.set.Use("insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			began = append(began, time.Now())
			reply := doc("ok", 0, "code", 462, "codeName", "IngressRequestRateLimitExceeded", "errmsg", "scripted",
				"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"})
			if baseBackoffMS > 0 { // as with the server's parameter externalClientBaseBackoffMS
				reply = append(reply, e{Key: "baseBackoffMS", Value: baseBackoffMS})
			}
			return mongotest.NewReply(reply)
		})
		checkCode(t, insertOneOf(w), 462)
	})
	var delays []time.Duration
	for i := range len(began) - 1 {
		delays = append(delays, began[i+1].Sub(began[i]))
	}
	return delays
}

// The specification's tests fix the random number at 0 and at 1. The clock of these tests is exact, so they look at the
// delays themselves: each is between 0 and its limit, and of 40 one at least is above half of it.
func checkBackoff(t *testing.T, baseBackoffMS int, limits ...time.Duration) {
	t.Helper()
	const times = 40
	longest := make([]time.Duration, len(limits))
	for range times {
		delays := overloadedInserts(t, baseBackoffMS)
		if len(delays) != len(limits) {
			t.Fatalf("the delays are %v", delays)
		}
		for i, d := range delays {
			if longest[i] = max(longest[i], d); d < 0 || d >= limits[i] {
				t.Errorf("delay %d is %v, want less than %v", i+1, d, limits[i])
			}
		}
	}
	for i, d := range longest {
		if d < limits[i]/2 {
			t.Errorf("the longest of %d delays before retry %d is %v, want one above the half of %v", times, i+1, d, limits[i])
		}
	}
}

func TestBackpressureProse1RetriesHaveExponentialBackoff(t *testing.T) {
	checkBackoff(t, 0, 200*time.Millisecond, 400*time.Millisecond)
}

func TestBackpressureProse3And4TheNumberOfRetries(t *testing.T) {
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		attempts  int
	}{
		{"3: MAX_RETRIES by default", nil, 3},
		{"4: maxAdaptiveRetries", func(o *options.ClientOptions) { o.SetMaxAdaptiveRetries(1) }, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.seed()
				w.failFind(w.set.Primary(), "alwaysOn", "errorCode", 462, "errorLabels", bson.A{"SystemOverloadedError", "RetryableError"})
				err := findOne(w)
				if got := labels(err, "SystemOverloadedError", "RetryableError"); len(got) != 2 {
					t.Errorf("the error has the labels %v: %v", got, err)
				}
				if n := len(w.started("find")); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
			})
		})
	}
}

func TestBackpressureProse5TheServersBaseBackoffIsUsed(t *testing.T) {
	checkBackoff(t, 50, 100*time.Millisecond, 200*time.Millisecond)
}

func TestProseSDAMConnectionPoolBackpressure(t *testing.T) {
	for name, opts := range map[string][]mongotest.Option{
		"without TLS: the hello fails": nil, "with TLS: the TLS handshake fails": {mongotest.TLS()},
	} {
		t.Run(name, func(t *testing.T) {
			var set *mongotest.Deployment
			run := func() (_ *mongotest.Deployment, err error) {
				set, err = mongotest.RunStandalone(append(opts, mongotest.InMemory())...)
				return set, err
			}
			inside(t, run, func(o *options.ClientOptions) {
				secure, err := set.ClientTLS()
				if err != nil {
					t.Fatal(err)
				}
				o.SetMaxConnecting(100).SetTLSConfig(secure)
			}, func(w *world) {
				for _, parameter := range []e{
					{Key: "RateLimiterEnabled", Value: true},
					{Key: "RatePerSec", Value: 20},
					{Key: "BurstCapacitySecs", Value: 1},
					{Key: "MaxQueueDepth", Value: 1},
				} {
					w.must(w.client.Database("admin").RunCommand(w.ctx,
						doc("setParameter", 1, "ingressConnectionEstablishment"+parameter.Key, parameter.Value)).Err())
				}
				w.must(insertOneOf(w))
				w.set.Use("find", mongotest.Always(mongotest.Fault{Delay: 2 * time.Second})) // for a $where that sleeps
				w.forget()
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() { _ = findOneOrNone(w) })
				}
				all.Wait()
				if n := len(w.poolEventsOf(event.ConnectionCheckOutFailed)); n < 10 {
					t.Errorf("%d checkouts failed, want at least 10", n)
				}
				if n := len(w.poolEventsOf(event.ConnectionPoolCleared)); n != 0 {
					t.Errorf("the pool was cleared %d times", n)
				}
			})
		})
	}
}

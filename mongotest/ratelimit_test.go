package mongotest_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The limiter's parameters: RatePerSec times BurstCapacitySecs connections are let in at once, MaxQueueDepth wait for a token,
// and RatePerSec tokens come each second. The server closes the other connections.
func TestTheRateLimiterOfNewConnections(t *testing.T) {
	for _, c := range []struct {
		name       string
		parameters map[string]string
		connect    int
		want       []time.Duration // when the server has answered the hellos
	}{
		{"it is off", map[string]string{"ingressConnectionEstablishmentRatePerSec": "1"}, 5, make([]time.Duration, 5)},
		{"it has no limit at first", map[string]string{"ingressConnectionEstablishmentRateLimiterEnabled": "true"}, 5, make([]time.Duration, 5)},
		{"a burst", limits("2", "2", "0"), 6, make([]time.Duration, 4)},
		{"a queue", limits("2", "1", "3"), 9, []time.Duration{0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.StartParameters(c.parameters))
				if got := answered(t, rs, c.connect); !slices.Equal(got, c.want) {
					t.Errorf("answered after %v, want %v", got, c.want)
				}
				<-time.After(time.Minute) // the bucket is full again
				if got := answered(t, rs, c.connect); !slices.Equal(got, c.want) {
					t.Errorf("a minute later: answered after %v, want %v", got, c.want)
				}
			})
		})
	}
}

func limits(rate, burst, queue string) map[string]string {
	return map[string]string{
		"ingressConnectionEstablishmentRateLimiterEnabled": "true", "ingressConnectionEstablishmentRatePerSec": rate,
		"ingressConnectionEstablishmentBurstCapacitySecs": burst, "ingressConnectionEstablishmentMaxQueueDepth": queue,
	}
}

// answered connects n times at once and returns when the replies came.
func answered(t *testing.T, rs *mongotest.Deployment, n int) []time.Duration {
	t.Helper()
	start := time.Now()
	var mu sync.Mutex
	var got []time.Duration
	var all sync.WaitGroup
	for range n {
		c, err := rs.Dialer().DialContext(t.Context(), "tcp", rs.Addr())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer c.Close()
			client := &rawClient{t: t, conn: c}
			if client.trySend(0, bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}}) != nil {
				return // the server has closed the connection already
			}
			if _, _, err := client.receive(); err == nil {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, time.Since(start))
			}
		})
	}
	all.Wait()
	return got
}

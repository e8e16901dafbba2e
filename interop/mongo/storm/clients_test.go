package storm

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// seed is that of the moments at which operations begin: they are the same for all strategies.
const seed = 49

// run lets the clients do their work on the fake clock, and returns the measured loads and results.
func run(t *testing.T, s scene, how strategy) *result {
	r := newResult(s)
	synctest.Test(t, func(t *testing.T) {
		server := newServer(s)
		var all sync.WaitGroup
		for n := range s.clients {
			c := client{server: server, result: r, do: how.client(t)}
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			all.Go(func() { c.work(random) })
		}
		all.Wait()
		r.offered, r.answers, r.work = server.offered, server.answers, server.accepted
	})
	return r
}

type client struct {
	*server
	result *result
	do     do
}

// work begins an operation in each turn, whatever became of the ones before. Its moment within the turn is random: at fixed
// moments the same few clients would always find the queue full.
func (c *client) work(random *rand.Rand) {
	var all sync.WaitGroup
	for turn := time.Duration(0); turn < c.length(); turn += c.every {
		at := turn + time.Duration(random.Int64N(int64(c.every)))
		wait(context.Background(), at-time.Since(c.began))
		all.Go(func() { c.operation(at) })
	}
	all.Wait()
}

func (c *client) operation(at time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	err := c.do(ctx, c.attempt)
	c.result.operationEnded(at, err == nil)
}

// attempt sends one attempt and waits for its outcome.
func (c *client) attempt(ctx context.Context) error {
	answer, after := c.arrive()
	after += c.latency
	if answer == timedOut || after > c.patience {
		answer, after = timedOut, c.patience
	}
	if !wait(ctx, after) {
		answer = timedOut
	}
	c.result.attemptEnded(answer)
	return [...]error{served: nil, rejected: errRejected, timedOut: errTimedOut}[answer]
}

// wait reports whether ctx still holds when d is over.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

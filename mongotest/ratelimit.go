package mongotest

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
)

// limiter is a bucket of tokens. A new connection takes one, or waits in a queue of limited length until there is one. Where
// the queue is full, the server closes the connection before it reads anything from it, so before TLS and hello.
type limiter struct {
	tokens float64   // negative while connections wait, by one for each
	since  time.Time // when tokens was right; zero while the limiter is off
}

// admitLocked takes a token for a connection that comes now. It returns how long the connection must wait for its token, and
// false if the queue is full.
func (l *limiter) admitLocked(known parameter.Parameters, now time.Time) (wait time.Duration, ok bool) {
	if !known.True(parameter.LimiterEnabled) {
		l.since = time.Time{}
		return 0, true
	}
	rate := known[parameter.LimiterRate].Value.AsFloat64()
	capacity := rate * known[parameter.LimiterBurst].Value.AsFloat64()
	if l.since.IsZero() {
		l.tokens = capacity
	} else {
		l.tokens = min(capacity, l.tokens+rate*now.Sub(l.since).Seconds())
	}
	l.since = now
	if waiting := math.Ceil(-l.tokens); l.tokens < 1 && max(waiting, 0) >= known[parameter.LimiterQueue].Value.AsFloat64() {
		return 0, false
	}
	if l.tokens--; l.tokens >= 0 {
		return 0, true
	}
	return time.Duration(-l.tokens / rate * float64(time.Second)), true
}

// admitted waits until the server's rate limiter lets the connection in. It returns false if the limiter does not.
func (c *conn) admitted() bool {
	c.Set.Lock()
	wait, ok := c.server.limiter.admitLocked(c.server.process.Parameters, time.Now())
	c.Set.Unlock()
	if !ok {
		c.Counts.Rejected.Add(1)
	}
	return ok && testserver.Sleep(c.Done, wait)
}

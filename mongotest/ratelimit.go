package mongotest

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// The parameters of the rate limiter for new connections.
// https://www.mongodb.com/docs/manual/tutorial/configure-rate-limiter/
const (
	limiterEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	limiterRate    = "ingressConnectionEstablishmentRatePerSec"
	limiterBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	limiterQueue   = "ingressConnectionEstablishmentMaxQueueDepth"
)

// limiterParameters are what a server begins with: the limiter is off, and has no limit yet.
func limiterParameters() map[string]parameter {
	return map[string]parameter{
		limiterEnabled: {truth(false), true},
		limiterRate:    {query.Int32(math.MaxInt32), true},
		limiterBurst:   {double(math.MaxFloat64), true},
		limiterQueue:   {query.Int32(0), true},
	}
}

func double(f float64) query.Value {
	return query.Value{Type: bson.TypeDouble, Data: wire.AppendDouble(nil, "", f)[2:]}
}

// limiter is a bucket of tokens. A new connection takes one, or waits in a queue of limited length until there is one. Where
// the queue is full, the server closes the connection before it reads anything from it, so before TLS and hello.
type limiter struct {
	tokens float64   // negative while connections wait, by one for each
	since  time.Time // when tokens was right; zero while the limiter is off
}

// admitLocked takes a token for a connection that comes now. It returns how long the connection must wait for its token, and
// false if the queue is full.
func (l *limiter) admitLocked(known map[string]parameter, now time.Time) (wait time.Duration, ok bool) {
	if !known[limiterEnabled].value.True() {
		l.since = time.Time{}
		return 0, true
	}
	rate := known[limiterRate].value.AsFloat64()
	capacity := rate * known[limiterBurst].value.AsFloat64()
	if l.since.IsZero() {
		l.tokens = capacity
	} else {
		l.tokens = min(capacity, l.tokens+rate*now.Sub(l.since).Seconds())
	}
	l.since = now
	if waiting := math.Ceil(-l.tokens); l.tokens < 1 && max(waiting, 0) >= known[limiterQueue].value.AsFloat64() {
		return 0, false
	}
	if l.tokens--; l.tokens >= 0 {
		return 0, true
	}
	return time.Duration(-l.tokens / rate * float64(time.Second)), true
}

// admitted waits until the server's rate limiter lets the connection in. It returns false if the limiter does not.
func (c *conn) admitted() bool {
	c.set.mu.Lock()
	wait, ok := c.server.limiter.admitLocked(c.server.parameters, time.Now())
	c.set.mu.Unlock()
	return ok && testserver.Sleep(c.done, wait)
}

package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// breaker is the breaker of an endpoint. While it is open, only its own half-open probe is sent. All methods can be called on nil.
type breaker struct {
	*retry.Breaker
	endpoint     *Endpoint
	openTimeout  time.Duration
	probeTimeout time.Duration
	good         func(error) bool
}

// newBreaker returns a closed breaker, or nil if none is configured.
func newBreaker(e *Endpoint, c *Breaker) *breaker {
	if c == nil {
		return nil
	}
	b := &breaker{endpoint: e, openTimeout: c.Options.OpenTimeout, probeTimeout: c.ProbeTimeout, good: c.Good}
	if b.probeTimeout == 0 {
		b.probeTimeout = defaultProbeTimeout
	}
	if b.good == nil {
		b.good = func(err error) bool { return !errors.Is(err, kv.ErrDeadline) }
	}
	o := c.Options
	o.Judge, o.OnChange = nil, b.changed
	b.Breaker, _ = retry.NewBreaker(o) // Open has checked the options
	return b
}

func (b *breaker) closed() bool { return b == nil || b.State() == retry.BreakerClosed }

// changed is called by the breaker with its lock held.
func (b *breaker) changed(_, to retry.BreakerState) {
	c := b.endpoint.bucket.cluster
	switch to {
	case retry.BreakerOpen:
		c.start(b.probe)
	case retry.BreakerClosed:
		b.endpoint.helps()
	case retry.BreakerHalfOpen:
	}
}

// helps ends the waits for the endpoint.
func (e *Endpoint) helps() {
	e.bucket.mu.Lock()
	defer e.bucket.mu.Unlock()
	e.helped()
}

// probe sends the half-open probe after the breaker's open timeout.
func (b *breaker) probe(context.Context) {
	ctx := b.endpoint.ctx
	if !pause(ctx, b.openTimeout) { //nolint:contextcheck // it ends with the endpoint, earlier than the cluster
		return
	}
	permit, ok := b.Allow()
	if !ok {
		return
	}
	err := kv.ErrClosed
	if conn := b.endpoint.Conn(); conn != nil {
		var reply kv.Reply
		err = conn.RoundTrip(&kv.Request{Opcode: memd.OpNoop, Deadline: time.Now().Add(b.probeTimeout), Cancelled: ctx.Done()}, &reply)
	}
	health := retry.HealthGood
	if err != nil {
		health = retry.HealthBad
	}
	b.Done(permit, health)
}

// Allow reports whether an operation may be sent. If so, its result must be passed to Done.
func (e *Endpoint) Allow() (retry.Permit, bool) {
	if e.breaker == nil {
		return retry.Permit{}, true
	}
	if !e.breaker.closed() {
		return retry.Permit{}, false // the probe is not an operation
	}
	return e.breaker.Allow()
}

// Done passes the result of an operation that was allowed: nil, or the error of the round trip or of the answer.
func (e *Endpoint) Done(p retry.Permit, err error) {
	if e.breaker == nil {
		return
	}
	health := retry.HealthGood
	switch {
	case errors.Is(err, kv.ErrCancelled):
		health = retry.HealthUnknown
	case err != nil && !e.breaker.good(err):
		health = retry.HealthBad
	}
	e.breaker.Done(p, health)
}

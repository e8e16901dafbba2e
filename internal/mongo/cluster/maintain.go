package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// maintenanceInterval is the longest time between two rounds of a pool's maintenance.
const maintenanceInterval = 10 * time.Second

// maintained reports whether the options need maintenance: connections that nobody uses become too old only with
// maxIdleTimeMS, and connections that nobody needs are made only for minPoolSize.
func (c *Config) maintained() bool { return c.MaxConnIdleTime > 0 || c.MinPoolSize > 0 }

// maintain closes the connections that were idle for longer than maxIdleTimeMS and makes connections up to minPoolSize,
// until ctx ends (Connection Monitoring and Pooling, "Background Thread").
func (p *pool) maintain(ctx context.Context) {
	interval := maintenanceInterval
	if limit := p.server.cluster.cfg.MaxConnIdleTime; limit > 0 {
		interval = min(interval, max(limit, time.Millisecond))
	}
	for {
		p.closeTooOld(time.Now())
		p.fill()
		if !sleep(ctx, interval, p.maintenance) {
			return
		}
	}
}

// maintainSoon requests a round of maintenance, because there may be fewer connections than minPoolSize.
func (p *pool) maintainSoon() {
	select {
	case p.maintenance <- struct{}{}:
	default: // a request is already pending, or nothing is maintained
	}
}

// closeTooOld closes the connections that were idle for longer than maxIdleTimeMS.
func (p *pool) closeTooOld(now time.Time) {
	p.mu.Lock()
	p.dropIdle(event.ReasonIdle, func(c *Conn) bool { return p.tooOld(c, now) })
	p.mu.Unlock()
	p.notices.deliver()
}

func (p *pool) tooOld(c *Conn, now time.Time) bool {
	limit := p.server.cluster.cfg.MaxConnIdleTime
	return limit > 0 && now.Sub(c.lastUsed) > limit
}

// fill begins connections up to minPoolSize, as far as the limits allow. If one of them cannot be made, the next round
// tries again.
func (p *pool) fill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.mayFill && p.state == ready && p.total < p.server.cluster.cfg.MinPoolSize && p.mayConnect() {
		p.begin(nil, p.own)
	}
}

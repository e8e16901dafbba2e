package cluster

import "go.mongodb.org/mongo-driver/v2/event"

func (p *pool) observed() bool {
	m := p.server.cluster.cfg.PoolMonitor
	return m != nil && m.Event != nil
}

// emit calls the listener. It is never called with a lock held.
func (p *pool) emit(e event.PoolEvent) {
	if p.observed() {
		e.Address = p.server.address
		p.server.cluster.cfg.PoolMonitor.Event(&e)
	}
}

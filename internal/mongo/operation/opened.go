package operation

import "github.com/holdfast-db/holdfast/telemetry"

// opened tells the tracer of the client, and returns what it tells of its end.
func (r *Runner) opened() (closed func()) {
	t := r.cfg.Tracer
	if t == nil {
		return func() {}
	}
	client := &telemetry.Client{System: telemetry.MongoDB, Pools: r.cfg.Cluster.Pools, Limits: r.limitsNow}
	if t.ClientOpened != nil {
		t.ClientOpened(client)
	}
	return func() {
		if t.ClientClosed != nil {
			defer r.cfg.Cluster.Listening().Add(-1)
			t.ClientClosed(client)
		}
	}
}

// limitsNow returns the states of the budget and of the servers' breakers.
func (r *Runner) limitsNow() telemetry.Limits {
	var limits telemetry.Limits
	if budget := r.cfg.Limits.Budget; budget != nil {
		tokens := budget.Tokens()
		limits.Budget = &tokens
	}
	if r.cfg.Limits.Breaker == nil {
		return limits
	}
	for _, s := range r.cfg.Cluster.Snapshot().Description.Servers {
		limits.Breakers = append(limits.Breakers, telemetry.Breaker{Address: s.Address, State: r.engine.Breaker(s.Address).State().String()})
	}
	return limits
}

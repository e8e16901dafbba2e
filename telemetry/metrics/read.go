package metrics

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/telemetry"
)

func (s *Source) clientOpened(c *telemetry.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c] = true
}

func (s *Source) clientClosed(c *telemetry.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

// Read calls report with the values of the up-down counters and gauges as they are now, each series once. Pools of the same name, which are those
// of several clients, are added up.
func (s *Source) Read(report func(d Definition, attributes []string, value float64)) {
	s.mu.Lock()
	clients := slices.Collect(maps.Keys(s.clients))
	s.mu.Unlock()

	state := state{pools: make(map[string]*pool), breakers: make(map[string]int)}
	for _, c := range clients {
		state.add(c)
	}
	state.report(func(m Metric, value float64, attributes ...string) { report(definitions[m], attributes, value) })
}

// state is that of several clients together.
type state struct {
	pools    map[string]*pool
	breakers map[string]int
	budget   *float64
}

// pool is the sum of pools.
type pool struct {
	idle, used, waiting, min, max int
	unlimited                     bool // one of them has no limit
}

func (s *state) add(c *telemetry.Client) {
	for _, p := range c.Pools() {
		name := valid(p.Address)
		sum := s.pools[name]
		if sum == nil {
			sum = &pool{}
			s.pools[name] = sum
		}
		sum.idle += p.Idle
		sum.used += p.InUse
		sum.waiting += p.Waiting
		sum.min += p.Min
		sum.max += p.Max
		sum.unlimited = sum.unlimited || p.Max == 0
	}
	limits := c.Limits()
	if b := limits.Budget; b != nil && (s.budget == nil || *b < *s.budget) {
		s.budget = b
	}
	for _, b := range limits.Breakers {
		name := valid(b.Address)
		s.breakers[name] = max(s.breakers[name], breakerState(b.State))
	}
}

func breakerState(text string) int {
	switch text {
	case "open":
		return BreakerOpen
	case "half-open":
		return BreakerHalfOpen
	}
	return BreakerClosed
}

func (s *state) report(report func(m Metric, value float64, attributes ...string)) {
	for name, p := range s.pools {
		report(ConnectionCount, float64(p.idle), name, "idle")
		report(ConnectionCount, float64(p.used), name, "used")
		report(ConnectionPendingRequests, float64(p.waiting), name)
		report(ConnectionIdleMin, float64(p.min), name)
		if !p.unlimited {
			report(ConnectionIdleMax, float64(p.max), name)
			report(ConnectionMax, float64(p.max), name)
		}
	}
	if s.budget != nil {
		report(RetryBudgetTokens, *s.budget)
	}
	for address, state := range s.breakers {
		host, port := Server(address)
		report(BreakerState, float64(state), host, port)
	}
}

package cluster

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// severity orders the states of breakers. A node has a breaker for each bucket: the one that keeps most away is shown.
var severity = map[retry.BreakerState]int{retry.BreakerClosed: 0, retry.BreakerHalfOpen: 1, retry.BreakerOpen: 2}

// Breakers returns the states of the nodes' breakers, by address; none if there are no breakers.
func (c *Cluster) Breakers() []telemetry.Breaker {
	states := make(map[string]retry.BreakerState)
	for _, b := range c.everyBucket() {
		b.mu.Lock()
		for address, e := range b.endpoints {
			if e.breaker == nil {
				continue
			}
			if state, seen := states[address]; !seen || severity[e.breaker.State()] > severity[state] {
				states[address] = e.breaker.State()
			}
		}
		b.mu.Unlock()
	}
	var all []telemetry.Breaker
	for _, address := range slices.Sorted(maps.Keys(states)) {
		all = append(all, telemetry.Breaker{Address: address, State: states[address].String()})
	}
	return all
}

package cluster

import "go.mongodb.org/mongo-driver/v2/bson"

// generations counts how often a pool was cleared. A connection of an earlier generation is stale. Behind a load
// balancer each service has its own generation (Load Balancer specification, "Connection Pool Generations").
type generations struct {
	pool     uint64
	services map[bson.ObjectID]uint64
}

// of returns the generation of a service, or that of the pool if service is zero.
func (g *generations) of(service bson.ObjectID) uint64 {
	if service.IsZero() {
		return g.pool
	}
	return g.services[service]
}

// advance makes all connections of a service stale, or those of the pool if service is zero.
func (g *generations) advance(service bson.ObjectID) {
	if service.IsZero() {
		g.pool++
		return
	}
	if g.services == nil {
		g.services = make(map[bson.ObjectID]uint64)
	}
	g.services[service]++
}

package cluster

import "go.mongodb.org/mongo-driver/v2/bson"

// generations counts how often a pool was cleared. A connection of an earlier generation is stale. Behind a load
// balancer each service has its own generation (Load Balancer specification, "Connection Pool Generations").
type generations struct {
	pool     uint64
	services map[bson.ObjectID]serviceConns // only the services that have connections
}

// serviceConns is the generation of a service and the number of its connections, from their hello until they are closed.
type serviceConns struct {
	generation  uint64
	connections uint64
}

// of returns the generation of a service, or that of the pool if service is zero.
func (g *generations) of(service bson.ObjectID) uint64 {
	if service.IsZero() {
		return g.pool
	}
	return g.services[service].generation
}

// advance makes all connections of a service stale, or those of the pool if service is zero.
func (g *generations) advance(service bson.ObjectID) {
	if service.IsZero() {
		g.pool++
		return
	}
	if s, ok := g.services[service]; ok {
		s.generation++
		g.services[service] = s
	}
}

// join counts one connection more of a service, and returns the generation that it has.
func (g *generations) join(service bson.ObjectID) uint64 {
	if g.services == nil {
		g.services = make(map[bson.ObjectID]serviceConns)
	}
	s := g.services[service]
	s.connections++
	g.services[service] = s
	return s.generation
}

// leave counts one connection less of a service. Without connections a service needs no generation, and the services
// that a load balancer has had must not fill the memory. A zero service has none.
func (g *generations) leave(service bson.ObjectID) {
	s, ok := g.services[service]
	switch {
	case !ok:
	case s.connections == 1:
		delete(g.services, service)
	default:
		s.connections--
		g.services[service] = s
	}
}

package spec

import (
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest/unified"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// server is a mongotest deployment.
type server struct {
	*mongotest.Deployment
	facts unified.Facts
}

var _ unified.Deployment = server{}

const onlyMongos = 0 // of the load balancer of SingleURI

const latency = 10 * time.Microsecond

// topologies are the deployments that the suites are run on, and how to make one.
var topologies = map[string]func(t *testing.T, version string) *mongotest.Deployment{
	"replicaset": func(t *testing.T, version string) *mongotest.Deployment {
		return mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Version(version))
	},
	// Bytes take time so that the client has cleared a pool before its monitor can make that pool ready again.
	"sharded": func(t *testing.T, version string) *mongotest.Deployment {
		return mongotest.RunShardedT(t, 3, 2, mongotest.InMemory(), mongotest.Version(version), mongotest.Latency(latency, latency))
	},
	"load-balanced": func(t *testing.T, version string) *mongotest.Deployment {
		return mongotest.RunShardedT(t, 3, 2, mongotest.InMemory(), mongotest.Version(version), mongotest.Latency(latency, latency),
			mongotest.LoadBalancer(), mongotest.LoadBalancer(onlyMongos))
	},
	"single": func(t *testing.T, version string) *mongotest.Deployment {
		return mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version(version))
	},
}

// leastBalanced is the first version that works behind a load balancer.
const leastBalanced = "5.0"

// deployments are what a case is run on for a topology. If no version is admitted, it is the first, which says why.
func deployments(f *unified.File, c *unified.Test, topology string) []unified.Facts {
	var list []unified.Facts
	for _, v := range versions {
		if topology == "load-balanced" && v < leastBalanced {
			continue
		}
		facts := unified.Facts{Version: v, Topology: topology}
		if facts.Admit(f, c) == nil {
			list = append(list, facts)
		}
	}
	if list == nil {
		list = []unified.Facts{{Version: versions[0], Topology: topology}}
	}
	return list
}

// runsOn returns the topologies on which a case is run: the replica set where it may, a standalone or a sharded
// cluster where the file asks for one.
func runsOn(f *unified.File, c *unified.Test) []string {
	var on []string
	for _, topology := range slices.Sorted(maps.Keys(topologies)) {
		if topology == "replicaset" || f.Names(c, topology) {
			on = append(on, topology)
		}
	}
	return on
}

func (s server) SingleURI() string {
	switch {
	case s.facts.Topology == "load-balanced":
		return "mongodb://" + s.LoadBalancerAddr(1) + "/?loadBalanced=true"
	case s.Mongos() > 0:
		return "mongodb://" + s.MongosAddr(0) + "/"
	}
	return s.URI()
}

func (s server) Configure(o *options.ClientOptions) { o.SetDialer(s.Dialer()) }

func (s server) Facts() unified.Facts { return s.facts }

package spec

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest/unified"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// server is a mongotest deployment.
type server struct {
	*mongotest.ReplicaSet
	topology string
}

var _ unified.Deployment = server{}

// topologies are the deployments that the suites are run on, and how to make one.
var topologies = map[string][]mongotest.Option{
	"replicaset": {mongotest.InMemory(), mongotest.Members(1)},
	"single":     {mongotest.InMemory(), mongotest.Standalone()},
}

// facts are the same for every server of a topology.
func facts(topology string) unified.Facts {
	return unified.Facts{Version: "7.0.0", Topology: topology}
}

func (s server) SingleURI() string { return s.URI() }

func (s server) Configure(o *options.ClientOptions) { o.SetDialer(s.Dialer()) }

func (s server) Facts() unified.Facts { return facts(s.topology) }

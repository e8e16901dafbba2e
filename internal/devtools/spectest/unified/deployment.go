package unified

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Deployment is the server under test.
type Deployment interface {
	// URI names it for every client.
	URI() string
	// SingleURI names one of its mongos only; for a deployment that is not sharded it is URI.
	SingleURI() string
	// Configure adds what a URI cannot say, such as a dialer. It is called after the URI was applied.
	Configure(*options.ClientOptions)
	// Facts is what runOnRequirements ask about.
	Facts() Facts
}

// Facts describe a deployment.
type Facts struct {
	Version        string // of the server
	Topology       string // "single", "replicaset", "sharded" or "load-balanced"
	Auth           bool
	AuthMechanisms []string
	Parameters     bson.Raw // of getParameter; one that is missing is not supported
}

package spec

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
	"github.com/holdfast-db/holdfast/mongotest"
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
var topologies = map[string]func(t *testing.T, options ...mongotest.Option) *mongotest.Deployment{
	"replicaset": func(t *testing.T, options ...mongotest.Option) *mongotest.Deployment {
		return mongotest.RunReplicaSetT(t, 3, options...)
	},
	// Bytes take time so that the client has cleared a pool before its monitor can make that pool ready again.
	"sharded": func(t *testing.T, options ...mongotest.Option) *mongotest.Deployment {
		return mongotest.RunShardedT(t, 3, 2, append(options, mongotest.Latency(latency, latency))...)
	},
	"load-balanced": func(t *testing.T, options ...mongotest.Option) *mongotest.Deployment {
		return mongotest.RunShardedT(t, 3, 2, append(options, mongotest.Latency(latency, latency),
			mongotest.LoadBalancer(), mongotest.LoadBalancer(onlyMongos))...)
	},
	"single": func(t *testing.T, options ...mongotest.Option) *mongotest.Deployment {
		return mongotest.RunStandaloneT(t, options...)
	},
}

const (
	userName     = "spec"
	userPassword = "secret"
)

// start makes a deployment.
func start(t *testing.T, facts unified.Facts) unified.Deployment { return startServer(t, facts) }

func startServer(t *testing.T, facts unified.Facts) server {
	options := []mongotest.Option{mongotest.InMemory(), mongotest.Version(facts.Version)}
	if facts.Auth {
		options = append(options, mongotest.Users(mongotest.User{Name: userName, Password: userPassword}),
			mongotest.OIDC(mongotest.IdentityProvider{Accept: func(token string) (mongotest.TokenOwner, error) {
				return mongotest.TokenOwner{Name: token}, nil // "" is nobody
			}}))
	}
	return server{topologies[facts.Topology](t, options...), facts}
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

func (s server) Configure(o *options.ClientOptions) {
	o.SetDialer(s.Dialer())
	switch {
	case !s.facts.Auth:
	case o.Auth == nil:
		o.SetAuth(options.Credential{Username: userName, Password: userPassword})
	case o.Auth.AuthMechanism == "MONGODB-OIDC":
		o.Auth.OIDCMachineCallback = func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
			return &options.OIDCCredential{AccessToken: userName}, nil
		}
	}
}

func (s server) Facts() unified.Facts { return s.facts }

package spec

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// leastBalanced is the first version that works behind a load balancer.
const leastBalanced = "5.0"

// deployments are those on which a case is run for a topology: one for each version, with authentication only if the case
// asks for it.
func deployments(f *unified.File, c *unified.Test, topology string) []unified.Facts {
	var list []unified.Facts
	for _, v := range versions {
		if topology == "load-balanced" && v < leastBalanced {
			continue
		}
		for _, auth := range []bool{false, true} {
			facts := unified.Facts{Version: v, Topology: topology, Auth: auth, AuthMechanisms: mechanisms, Parameters: parameters}
			if facts.Admit(f, c) == nil {
				list = append(list, facts)
				break
			}
		}
	}
	return list
}

var mechanisms = []string{"SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-OIDC"}

// parameters are the server parameters of mongotest that cases ask for.
var parameters = func() bson.Raw {
	b, err := bson.Marshal(bson.D{{Key: "requireApiVersion", Value: false}, {Key: "enableTestCommands", Value: true}})
	if err != nil {
		panic(err)
	}
	return b
}()

// runsOn returns the deployments on which a case is run, by topology: on a replica set where it may, on another one if the
// file names it. If there is none, the error says why.
func runsOn(f *unified.File, c *unified.Test) (map[string][]unified.Facts, error) {
	on := make(map[string][]unified.Facts)
	for topology := range topologies {
		if topology != "replicaset" && !f.Names(c, topology) {
			continue
		}
		if list := deployments(f, c, topology); list != nil {
			on[topology] = list
		}
	}
	if len(on) > 0 {
		return on, nil
	}
	return nil, onReplicaSet(f, c).Admit(f, c)
}

// onReplicaSet returns the first replica set that a case may be run on, or one that it may not be run on.
func onReplicaSet(f *unified.File, c *unified.Test) unified.Facts {
	if list := deployments(f, c, "replicaset"); list != nil {
		return list[0]
	}
	return unified.Facts{Version: versions[0], Topology: "replicaset"}
}

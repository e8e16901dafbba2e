package topology

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TopologyVersion orders the states of one server process.
type TopologyVersion struct { //nolint:revive // the specification's term
	ProcessID bson.ObjectID
	Counter   int64
}

// compareTopologyVersion is negative if current is older than other, which it is held to be when they cannot be
// compared: one is missing, or they come from different processes (SDAM, "topologyVersion Comparison").
func compareTopologyVersion(current, other *TopologyVersion) int {
	if current == nil || other == nil || current.ProcessID != other.ProcessID {
		return -1
	}
	return cmp.Compare(current.Counter, other.Counter)
}

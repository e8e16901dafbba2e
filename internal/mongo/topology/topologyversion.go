package topology

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TopologyVersion is SDAM's topologyVersion, which orders the states of one server process.
type TopologyVersion struct { //nolint:revive // the specification's term
	ProcessID bson.ObjectID
	Counter   int64
}

// compareTopologyVersion returns a negative number if current is older than other. If one is missing or they come
// from different processes, current is considered older (SDAM, "topologyVersion Comparison").
func compareTopologyVersion(current, other *TopologyVersion) int {
	if current == nil || other == nil || current.ProcessID != other.ProcessID {
		return -1
	}
	return cmp.Compare(current.Counter, other.Counter)
}

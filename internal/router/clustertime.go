package router

import "go.mongodb.org/mongo-driver/v2/bson"

// checkClusterTime refuses a $clusterTime that is none, as a server does: no member gets to see it, for the router sends the latest that it
// knows. Null is as good as nothing.
func (c *command) checkClusterTime() *refusal {
	switch {
	case c.clusterType == 0 || c.clusterType == bson.TypeNull:
		return nil
	case c.clusterTime == nil:
		return typeMismatch("$clusterTime has the BSON type %v, it must be a document", c.clusterType)
	}
	switch given := field(c.clusterTime, "clusterTime"); given.Type {
	case 0, bson.TypeNull:
		return &refusal{code: codeIDLFailedToParse, name: "IDLFailedToParse", text: "$clusterTime has no clusterTime"}
	case bson.TypeTimestamp:
		return nil
	default:
		return typeMismatch("the clusterTime in $clusterTime has the BSON type %v, it must be a timestamp", given.Type)
	}
}

package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// getClusterConfig answers with the map of the connection's bucket, or of the cluster if it has none; old servers want a bucket. A client
// that names the version that it has gets nothing if that is the newest.
func getClusterConfig(x *exec) *Reply {
	b := x.conn.bucket
	if b != nil && b.dropped || b == nil && !x.cluster.profile.mapsWithoutBucket() {
		return refusal(memd.StatusNoBucket)
	}
	current := x.cluster.knownVersion(b, x.node)
	if len(x.p.Extras) > 0 && x.conn.features.Has(memd.FeatureKnownMapVersion) {
		known, err := memd.ParseMapVersion(x.p.Extras)
		if err != nil {
			return refusal(memd.StatusInvalidArguments)
		}
		if !current.Newer(known) {
			x.conn.told = known
			return &Reply{}
		}
	}
	x.conn.told = current
	return &Reply{Value: x.cluster.mapLocked(b, x.node), JSON: true}
}

// notMyVBucket refuses a request for a vbucket that the node does not have. The answer has the map, unless the connection was told
// of it already and its client wants it only once.
func (x *exec) notMyVBucket() *Reply {
	current := x.cluster.knownVersion(x.bucket, x.node)
	dedupe := x.conn.features.Has(memd.FeatureDedupeMaps) && !current.Newer(x.conn.told)
	if dedupe || x.cluster.bareRefusals {
		return refusal(memd.StatusNotMyVBucket)
	}
	x.conn.told = current
	return &Reply{Status: memd.StatusNotMyVBucket, Value: x.cluster.mapLocked(x.bucket, x.node), JSON: true}
}

package couchbasetest

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// disowned is how often a cluster with the defect NotMyVBucketAfterApply does not refuse a write, between two that it refuses.
const disowned = 9

// disownsLocked reports whether a write that was applied is refused: only a cluster with a defect does that.
func (x *exec) disownsLocked(reply *Reply) bool {
	if !x.cluster.mutant.NotMyVBucketAfterApply || x.entry == nil || reply.Status != memd.StatusSuccess {
		return false
	}
	x.cluster.writes++
	return x.cluster.writes%(disowned+1) == 0
}

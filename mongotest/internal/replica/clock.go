package replica

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// tickLocked returns the timestamp of the next oplog entry.
func (rs *Set) tickLocked() store.Timestamp {
	next := max(rs.ClusterTime(), Now()) + 1
	rs.Clock.Store(uint64(next))
	return next
}

// ClusterTime returns the newest cluster time that a server or a client knows.
func (rs *Set) ClusterTime() store.Timestamp {
	return store.Timestamp(max(rs.Clock.Load(), rs.ClientClusterTime.Load()))
}

// AdvanceClusterTime notes a cluster time that a client knows from elsewhere.
func (rs *Set) AdvanceClusterTime(t store.Timestamp) {
	rs.Lock()
	defer rs.Unlock()
	rs.ClientClusterTime.Store(max(rs.ClientClusterTime.Load(), uint64(t)))
}

// Now returns the first timestamp of the current second.
func Now() store.Timestamp { return store.Timestamp(time.Now().Unix()) << 32 }

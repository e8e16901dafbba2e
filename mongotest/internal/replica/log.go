package replica

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/changes"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Noop returns an entry that changes nothing and says why it was written.
func Noop(message string) *store.Entry {
	at, dst := wire.BeginDocument(nil)
	return &store.Entry{Op: store.Noop, After: wire.EndDocument(wire.AppendString(dst, "msg", message), at)}
}

// HasOplogLocked reports whether the member's log can be read as local.oplog.rs.
func (m *Member) HasOplogLocked() bool { return !m.Set.Standalone && m.Data.Log.Last() > 0 }

// OplogLocked returns the member's log up to an index as a collection, nil if the member has none.
func (m *Member) OplogLocked(last int64) *store.Collection {
	if !m.HasOplogLocked() {
		return nil
	}
	return m.Data.Log.Oplog(last, m.Set.OplogBytes, m.OplogDocument)
}

// OplogDocument returns an entry as local.oplog.rs has it.
func (m *Member) OplogDocument(e, previous *store.Entry) []byte {
	return changes.OplogDocument(m.Set.Version, e, previous)
}

package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// member is a member of the set, and what it keeps for clients. Its fields are guarded by the set's mutex but for those that never change.
type member struct {
	*replica.Member
	cluster     *cluster
	cursors     map[int64]*cursor
	planFilters map[store.UUID]planfilter.Filters // index filters of collections
	points      *failPoints                       // of its server
	usage       usage
}

// runLocked makes the member run, with the data that it has.
func (m *member) runLocked() {
	m.StartLocked()
	m.points.clear()
	m.cursors = make(map[int64]*cursor)
	m.planFilters = make(map[store.UUID]planfilter.Filters)
}

// transactionEndedLocked drops the cursors that were opened in a transaction.
func (m *member) transactionEndedLocked(t *replica.Transaction) {
	for id, c := range m.cursors {
		if c.lsid == t.Session.Key && c.txn == t.Number {
			delete(m.cursors, id)
		}
	}
}

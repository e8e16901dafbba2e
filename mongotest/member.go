package mongotest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// member is a server that is a member of the set: its replica, and what it keeps for clients. Its fields are guarded by the set's mutex but
// for those that never change.
type member struct {
	*replica.Member
	server
	cursors     map[int64]*cursor
	planFilters map[store.UUID]planfilter.Filters // index filters of collections
	usage       usage
}

func newMember(rs *Deployment, index int) *member {
	m := &member{Member: replica.NewMember(rs.set, index)}
	m.server = server{
		deployment: rs, process: &m.Process, member: m, conns: make(map[*conn]struct{}), tally: newTally(),
		listening: listening{name: fmt.Sprintf("member %d", index), host: fmt.Sprintf("m%d", index)},
	}
	m.runLocked()
	return m
}

// runLocked makes the member run, with the data that it has.
func (m *member) runLocked() {
	m.StartLocked()
	m.openLocked()
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

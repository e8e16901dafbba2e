package call

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/profiling"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/status"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Member is a member of the set, and what it keeps for clients. Its fields are guarded by the set's mutex but for those that never
// change and what is atomic.
type Member struct {
	*replica.Member
	Cluster     *Cluster
	Cursors     map[int64]*Cursor
	PlanFilters map[store.UUID]planfilter.Filters // index filters of collections
	Points      *FailPoints                       // of its server
	Counts      atomic.Pointer[status.Counts]     // of its server: each start begins new ones, also while a command is executed
	Profiling   profiling.Settings                // of its server
	Usage       usage
}

// RunLocked makes the member run, with the data that it has.
func (m *Member) RunLocked() {
	m.StartLocked()
	m.Points.Clear()
	m.Profiling.Reset()
	m.Cursors = make(map[int64]*Cursor)
	m.PlanFilters = make(map[store.UUID]planfilter.Filters)
	m.Data.Collections.RestartUses()
}

// TransactionEndedLocked drops the cursors that were opened in a transaction.
func (m *Member) TransactionEndedLocked(t *replica.Transaction) {
	for id, c := range m.Cursors {
		if c.LSID == t.Session.Key && c.txn == t.Number {
			delete(m.Cursors, id)
		}
	}
}

// Namespaces returns the namespaces of a database in order, or of all with "".
func (x Locked) Namespaces(db string) []string {
	var list []string
	for ns := range x.Client.Member.Data.Collections {
		if db == "" || strings.HasPrefix(ns, db+".") {
			list = append(list, ns)
		}
	}
	slices.Sort(list)
	return list
}

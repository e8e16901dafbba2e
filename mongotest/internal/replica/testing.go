package replica

import (
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// What a test asks of a set and does to it. These methods take the set's mutex themselves.

// Size returns how many members there are, including those that do not run.
func (rs *Set) Size() int {
	rs.Lock()
	defer rs.Unlock()
	return len(rs.Members)
}

// Primary returns the index of the primary of the newest term, -1 if there is none.
func (rs *Set) Primary() int {
	rs.Lock()
	defer rs.Unlock()
	if m := rs.NewestPrimaryLocked(); m != nil {
		return m.Index
	}
	return -1
}

// Term returns the highest term that a member knows of.
func (rs *Set) Term() int64 {
	rs.Lock()
	defer rs.Unlock()
	return rs.TermLocked()
}

// Address returns where clients find the process, "host:port".
func (m *Member) Address() string {
	m.Set.Lock()
	defer m.Set.Unlock()
	return m.Addr
}

// Documents returns what the member has in a namespace, committed or not.
func (m *Member) Documents(ns string) []bson.Raw {
	m.Set.Lock()
	defer m.Set.Unlock()
	return documents(m.Data.Collections[ns].Scan)
}

// MajorityDocuments returns the documents of a namespace that a majority has, as the primary knows it or, if there is none, the member whose
// commit point is newest.
func (rs *Set) MajorityDocuments(ns string) []bson.Raw {
	rs.Lock()
	defer rs.Unlock()
	from := rs.NewestPrimaryLocked()
	for _, m := range rs.Members {
		if from == nil || (from.Role != Primary && m.Commit > from.Commit) {
			from = m
		}
	}
	return documents(from.Data.Snapshot(ns, from.Commit).Scan)
}

func documents(scan func(visit func(r *store.Record) bool)) (docs []bson.Raw) {
	scan(func(r *store.Record) bool {
		docs = append(docs, bson.Raw(r.Doc))
		return true
	})
	return docs
}

// Await waits until ready returns true. It asks again whenever something has changed, with the set's mutex held. It returns an error if stop is
// closed first.
func (rs *Set) Await(ready func() bool, stop <-chan struct{}) error {
	rs.Lock()
	defer rs.Unlock()
	return rs.AwaitLocked(NewWaiter(ready), stop, -1)
}

// AwaitPrimary waits until there is a primary that reaches a majority, and returns its index.
func (rs *Set) AwaitPrimary(stop <-chan struct{}) (int, error) {
	primary := -1
	err := rs.Await(func() bool {
		m := rs.NewestPrimaryLocked()
		if m == nil || !m.SeesMajority() {
			return false
		}
		primary = m.Index
		return true
	}, stop)
	return primary, err
}

// AwaitState waits until the name of the member's state is another one than known, and returns it.
func (m *Member) AwaitState(known string, stop <-chan struct{}) (state string, err error) {
	err = m.Set.Await(func() bool {
		state = m.StateNameLocked()
		return state != known
	}, stop)
	return state, err
}

// StepDown makes the primary step down in favour of a secondary.
func (rs *Set) StepDown() error {
	rs.Lock()
	defer rs.Unlock()
	m := rs.NewestPrimaryLocked()
	if m == nil {
		return errors.New("mongotest: there is no primary to step down")
	}
	return rs.StepDownLocked(m, Handover, CatchUp, false, rs.Done)
}

// SetLag sets how long after a write the member fetches it, beside what the set has; a negative lag counts as none.
func (m *Member) SetLag(lag time.Duration) {
	m.Set.Lock()
	defer m.Set.Unlock()
	m.Lag = max(0, lag)
	m.Set.WakeLocked()
}

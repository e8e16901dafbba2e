package replica

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Handover is how long after a step-down the secondary that was caught up is elected.
const Handover = 2 * time.Millisecond

// CatchUp is how long a step-down waits for a secondary to catch up.
const CatchUp = 10 * time.Second

// stepDownLocked makes a primary a secondary. Set.ChangedLocked wakes those who wait for the acknowledgement of its writes.
func (m *Member) stepDownLocked() {
	m.Role = Secondary
	m.held = nil
	m.abortAllLocked()
	clear(m.Transactions) // the log, which a rollback changes, says which of them are committed
	m.stopTimer()
}

// StepDownLocked gives up the mutex while it waits.
func (rs *Set) StepDownLocked(m *Member, freeze, limit time.Duration, force bool, stop <-chan struct{}) error {
	term, target := m.Term, m.Data.Log.Last()
	m.held = nil
	rs.WakeLocked()
	var heir *Member
	w := NewWaiter(func() bool {
		heir = m.heirLocked(target)
		return heir != nil || m.Role != Primary || m.Term != term
	})
	err := rs.AwaitLocked(w, stop, limit)
	switch {
	case err == nil && heir == nil:
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "mongotest: member %d is no longer primary", m.Index)
	case errors.Is(err, testserver.ErrGone):
		return err
	case err != nil && !force:
		return mongoerr.Errorf(mongoerr.ExceededTimeLimit, "No electable secondaries caught up as of %s. Please use the replSetStepDown "+
			"command with the argument {force: true} to force node to step down.", time.Now().UTC().Format(time.RFC3339))
	}
	if heir != nil {
		heir.fetchLocked(m, m, m.Data.Log.Last())
	}
	m.stepDownLocked()
	m.Frozen = time.Now().Add(freeze)
	if heir != nil {
		time.AfterFunc(Handover, heir.succeed)
	}
	rs.reconsiderLocked()
	return nil
}

// heirLocked returns who is to be the next primary: of those that can be elected and have the log up to an index, as a
// majority must, the one of the highest priority. It gets the later writes in the moment of the step-down, when
// nothing more can be written.
func (m *Member) heirLocked(index int64) *Member {
	if m.Role != Primary || !m.SeesMajority() || m.majorityIndex() < index {
		return nil
	}
	var heir *Member
	for _, other := range m.Set.Members {
		if other != m && m.Reaches(other) && other.electable() && m.Matched[other.Index] >= index &&
			(heir == nil || other.Config.Priority > heir.Config.Priority) {
			heir = other
		}
	}
	return heir
}

// succeed makes the heir of a primary that stepped down stand for election at once.
func (m *Member) succeed() {
	rs := m.Set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.Closed || !m.Up || m.PrimaryLocked() != nil {
		return
	}
	m.standLocked()
	rs.reconsiderLocked()
}

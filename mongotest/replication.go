package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// appendLocked writes an entry as the primary.
func (m *member) appendLocked(e *store.Entry) {
	e.Term = m.term
	e.TS = m.set.tickLocked()
	e.Written = time.Now().UnixNano()
	m.data.Apply(e)
	m.matched[m.index] = m.data.Log.Last()
	m.set.expiresLocked(e)
}

// publishLocked lets the secondaries know of new entries, and commits at once where the primary is a majority by itself.
func (m *member) publishLocked() {
	m.set.wakeLocked()
	if m.set.writeMajority == 1 {
		m.commitLocked()
	}
	m.set.changedLocked() // who tails a collection
}

// wakeLocked wakes the goroutines that replicate.
func (rs *Deployment) wakeLocked() {
	for _, m := range rs.members {
		if m.role != primary {
			m.notifyReplication()
		}
	}
}

func (m *member) notifyReplication() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// replicate fetches what there is until the set is closed.
func (m *member) replicate() {
	for m.waitForEntries() == nil {
		for m.fetch() {
			if m.waitFor(m.untilNext()) != nil {
				return
			}
		}
	}
}

// waitForEntries waits until there may be something to fetch.
func (m *member) waitForEntries() error {
	select {
	case <-m.wake:
		return nil
	case <-m.set.done:
		return errHangUp
	}
}

// waitFor waits until the next entry is due, or the member is woken because that may be earlier now.
func (m *member) waitFor(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-m.wake:
	case <-m.set.done:
		return errHangUp
	}
	return nil
}

// batch is how many entries are fetched while the set's mutex is held.
const batch = 256

// fetch fetches what there is, up to a batch, and reports whether there is more.
func (m *member) fetch() bool {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from, of := m.sourceLocked()
	if from == nil || m.points.byName[StopReplication] != nil || m.fsyncLocks > 0 || !m.config.BearsData() || from != of && !from.newerThan(m) {
		return false
	}
	m.rollBackLocked(from)
	if m.stale = false; m.data.Log.Last() < from.data.Log.Base {
		m.fallBehindLocked(from)
	}
	if m.stale {
		return false
	}
	m.fetchLocked(from, of, min(m.dueLocked(from), m.data.Log.Last()+batch))
	return m.data.Log.Last() < from.fetchLimit() && from.fetchLimit() > 0
}

// sourceLocked returns whom a secondary fetches from and whose log it follows that way: the primary, or a secondary that
// reaches the primary where the member itself does not.
func (m *member) sourceLocked() (from, of *member) {
	if m.set.closed || !m.up || m.role == primary {
		return nil, nil
	}
	if p := m.primaryLocked(); p != nil {
		return p, p
	}
	for _, other := range m.set.members {
		if other == m || other.config.Arbiter || !m.reaches(other) {
			continue
		}
		if p := other.primaryLocked(); p != nil && p.term >= m.term {
			return other, p
		}
	}
	return nil, nil
}

// delay is how long after a write the member fetches it.
func (m *member) delay() time.Duration { return m.set.config.replication + m.lag + m.config.Delay }

// dueLocked returns up to which index the source's entries have waited out the member's delay.
func (m *member) dueLocked(from *member) int64 {
	limit, delay := from.fetchLimit(), m.delay()
	if delay == 0 {
		return limit
	}
	now := time.Now().UnixNano()
	due := m.data.Log.Last()
	for ; due < limit && from.data.Log.At(due+1) != nil; due++ {
		if from.data.Log.At(due+1).Written+int64(delay) > now {
			break
		}
	}
	return due
}

// untilNext returns how long it is until the next entry may be fetched.
func (m *member) untilNext() time.Duration {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from, _ := m.sourceLocked()
	if from == nil || m.delay() == 0 {
		return 0
	}
	next := from.data.Log.At(m.data.Log.Last() + 1)
	if next == nil {
		return 0
	}
	return time.Until(time.Unix(0, next.Written).Add(m.delay()))
}

// fetchLocked brings the member's log to what from has up to an index, and tells the primary whose log that is: first what
// from does not have is rolled back.
func (m *member) fetchLocked(from, of *member, limit int64) {
	m.term = max(m.term, of.term)
	m.rollBackLocked(from)
	had := m.data.Log.Last()
	if had < from.data.Log.Base {
		m.fallBehindLocked(from)
		had = limit
	}
	for i := had + 1; i <= limit; i++ {
		m.data.Apply(from.data.Log.At(i))
	}
	if last := m.data.Log.Last(); from == of || of.data.Log.At(last) == m.data.Log.Tail() {
		of.matched[m.index] = last
	}
	of.commitLocked()
	if m.data.Log.Last() > had {
		m.feedLocked()
	}
	m.set.changedLocked()
}

// fallBehindLocked is for a member that needs entries which its source has no more. One that has nothing yet copies the source's data,
// as in an initial sync; another is in the state RECOVERING from now on, as mongod is until someone empties its folder.
func (m *member) fallBehindLocked(from *member) {
	if m.data.Log.Last() == 0 {
		m.data = from.data.Copy(from.commit)
		return
	}
	m.stale = true
	m.refreshViewLocked()
}

// feedLocked wakes who can only fetch from this secondary.
func (m *member) feedLocked() {
	for _, other := range m.set.members {
		if other != m && m.reaches(other) && other.role != primary && other.primaryLocked() == nil {
			other.notifyReplication()
		}
	}
}

// rollBackLocked undoes the entries that from does not have.
func (m *member) rollBackLocked(from *member) {
	var undone []*store.Entry
	for m.data.Log.Last() > m.data.Log.Base {
		if last := m.data.Log.Last(); last <= from.data.Log.Base || m.data.Log.Tail() == from.data.Log.At(last) {
			break
		}
		undone = append(undone, m.data.Log.Tail())
		m.data.Undo()
	}
	if undone != nil {
		m.rolledBackLocked(undone)
	}
}

// commitLocked moves the primary's commit point to what a majority has, if that is of its own term, and tells those that
// follow it.
func (m *member) commitLocked() {
	if m.role != primary {
		return
	}
	index := m.majorityIndex()
	if e := m.data.Log.At(index); index > m.commit && e != nil && e.Term == m.term {
		m.commit = index
	}
	for _, other := range m.set.members {
		if other.config.Arbiter {
			continue
		}
		if other != m && other.term == m.term && other.followsLocked(m) {
			other.commit = max(other.commit, min(m.commit, m.matched[other.index]))
		}
	}
	for _, other := range m.set.members {
		other.data.Log.Trim(min(m.commit, other.commit, other.neededLocked()), m.set.config.oplogBytes)
	}
}

// neededLocked returns from which index on the log must be kept for open transactions.
func (m *member) neededLocked() int64 {
	needed := m.data.Log.Last()
	for t := range m.open {
		needed = min(needed, t.at)
	}
	return needed
}

// followsLocked reports whether the member gets a primary's log.
func (m *member) followsLocked(p *member) bool {
	if m.reaches(p) {
		return true
	}
	_, of := m.sourceLocked()
	return of == p
}

// majorityIndex returns the highest index that a majority has of the members that vote and have data.
func (m *member) majorityIndex() int64 {
	var sorted [setconfig.MaxMembers]int64
	n := 0
	for _, other := range m.set.members {
		if !other.config.Voter() || other.config.Arbiter {
			continue
		}
		at := n
		for ; at > 0 && sorted[at-1] < m.matched[other.index]; at-- {
			sorted[at] = sorted[at-1]
		}
		sorted[at] = m.matched[other.index]
		n++
	}
	return sorted[m.set.writeMajority-1]
}

// countLocked returns how many members have the primary's log up to an index.
func (m *member) countLocked(index int64) int {
	n := 0
	for _, other := range m.set.members {
		if other.config.BearsData() && m.matched[other.index] >= index {
			n++
		}
	}
	return n
}

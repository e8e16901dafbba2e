package replica

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// AppendLocked writes an entry as the primary.
func (m *Member) AppendLocked(e *store.Entry) {
	e.Term = m.Term
	e.TS = m.Set.tickLocked()
	e.Written = time.Now().UnixNano()
	m.Data.Apply(e)
	m.Matched[m.Index] = m.Data.Log.Last()
	m.Set.expiresLocked(e)
}

// PublishLocked lets the secondaries know of new entries, and commits at once where the primary is a majority by itself.
func (m *Member) PublishLocked() {
	m.Set.WakeLocked()
	if m.Set.WriteMajority == 1 {
		m.commitLocked()
	}
	m.Set.ChangedLocked() // who tails a collection
}

// WakeLocked wakes the goroutines that replicate.
func (rs *Set) WakeLocked() {
	for _, m := range rs.Members {
		if m.Role != Primary {
			m.NotifyReplication()
		}
	}
}

// NotifyReplication wakes the goroutine that replicates.
func (m *Member) NotifyReplication() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Replicate fetches what there is until the set is closed.
func (m *Member) Replicate() {
	for m.waitForEntries() == nil {
		for m.fetch() {
			if m.waitFor(m.untilNext()) != nil {
				return
			}
		}
	}
}

// waitForEntries waits until there may be something to fetch.
func (m *Member) waitForEntries() error {
	select {
	case <-m.wake:
		return nil
	case <-m.Set.Done:
		return testserver.ErrGone
	}
}

// waitFor waits until the next entry is due, or the member is woken because that may be earlier now.
func (m *Member) waitFor(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-m.wake:
	case <-m.Set.Done:
		return testserver.ErrGone
	}
	return nil
}

// batch is how many entries are fetched while the set's mutex is held.
const batch = 256

// fetch fetches what there is, up to a batch, and reports whether there is more.
func (m *Member) fetch() bool {
	rs := m.Set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from, of := m.SourceLocked()
	if from == nil || m.FetchesNone || m.FsyncLocks > 0 || !m.Config.BearsData() || from != of && !from.newerThan(m) {
		return false
	}
	m.rollBackLocked(from)
	if m.Stale = false; m.Data.Log.Last() < from.Data.Log.Base {
		m.fallBehindLocked(from)
	}
	if m.Stale {
		return false
	}
	m.fetchLocked(from, of, min(m.dueLocked(from), m.Data.Log.Last()+batch))
	return m.Data.Log.Last() < from.fetchLimit() && from.fetchLimit() > 0
}

// SourceLocked returns whom a secondary fetches from and whose log it follows that way: the primary, or a secondary that
// reaches the primary where the member itself does not.
func (m *Member) SourceLocked() (from, of *Member) {
	if m.Set.Closed || !m.Up || m.Role == Primary {
		return nil, nil
	}
	if p := m.PrimaryLocked(); p != nil {
		return p, p
	}
	for _, other := range m.Set.Members {
		if other == m || other.Config.Arbiter || !m.Reaches(other) {
			continue
		}
		if p := other.PrimaryLocked(); p != nil && p.Term >= m.Term {
			return other, p
		}
	}
	return nil, nil
}

// delay is how long after a write the member fetches it.
func (m *Member) delay() time.Duration { return m.Set.Replication + m.Lag + m.Config.Delay }

// dueLocked returns up to which index the source's entries have waited out the member's delay.
func (m *Member) dueLocked(from *Member) int64 {
	limit, delay := from.fetchLimit(), m.delay()
	if delay == 0 {
		return limit
	}
	now := time.Now().UnixNano()
	due := m.Data.Log.Last()
	for ; due < limit && from.Data.Log.At(due+1) != nil; due++ {
		if from.Data.Log.At(due+1).Written+int64(delay) > now {
			break
		}
	}
	return due
}

// untilNext returns how long it is until the next entry may be fetched.
func (m *Member) untilNext() time.Duration {
	rs := m.Set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from, _ := m.SourceLocked()
	if from == nil || m.delay() == 0 {
		return 0
	}
	next := from.Data.Log.At(m.Data.Log.Last() + 1)
	if next == nil {
		return 0
	}
	return time.Until(time.Unix(0, next.Written).Add(m.delay()))
}

// fetchLocked brings the member's log to what from has up to an index, and tells the primary whose log that is: first what
// from does not have is rolled back.
func (m *Member) fetchLocked(from, of *Member, limit int64) {
	m.Term = max(m.Term, of.Term)
	m.rollBackLocked(from)
	had := m.Data.Log.Last()
	if had < from.Data.Log.Base {
		m.fallBehindLocked(from)
		had = limit
	}
	for i := had + 1; i <= limit; i++ {
		m.Data.Apply(from.Data.Log.At(i))
	}
	if last := m.Data.Log.Last(); from == of || of.Data.Log.At(last) == m.Data.Log.Tail() {
		of.Matched[m.Index] = last
	}
	of.commitLocked()
	if m.Data.Log.Last() > had {
		m.feedLocked()
	}
	m.Set.ChangedLocked()
}

// fallBehindLocked is for a member that needs entries which its source has no more. One that has nothing yet copies the source's data,
// as in an initial sync; another is in the state RECOVERING from now on, as mongod is until someone empties its folder.
func (m *Member) fallBehindLocked(from *Member) {
	if m.Data.Log.Last() == 0 {
		m.Data = from.Data.Copy(from.Commit)
		return
	}
	m.Stale = true
	m.refreshViewLocked()
}

// feedLocked wakes who can only fetch from this secondary.
func (m *Member) feedLocked() {
	for _, other := range m.Set.Members {
		if other != m && m.Reaches(other) && other.Role != Primary && other.PrimaryLocked() == nil {
			other.NotifyReplication()
		}
	}
}

// ReplicatedLocked reports whether every secondary has all that the primary wrote, except those that cannot get it or have it late on purpose.
func (rs *Set) ReplicatedLocked() bool {
	for _, m := range rs.Members {
		_, p := m.SourceLocked()
		late := !m.Config.BearsData() || m.Stale || m.Config.Delay > 0 || m.FsyncLocks > 0
		if p != nil && !late && p.Matched[m.Index] < p.Data.Log.Last() {
			return false
		}
	}
	return true
}

// rollBackLocked undoes the entries that from does not have.
func (m *Member) rollBackLocked(from *Member) {
	for m.Data.Log.Last() > m.Data.Log.Base {
		if last := m.Data.Log.Last(); last <= from.Data.Log.Base || m.Data.Log.Tail() == from.Data.Log.At(last) {
			break
		}
		m.Data.Undo()
	}
}

// commitLocked moves the primary's commit point to what a majority has, if that is of its own term, and tells those that
// follow it.
func (m *Member) commitLocked() {
	if m.Role != Primary {
		return
	}
	index := m.majorityIndex()
	if e := m.Data.Log.At(index); index > m.Commit && e != nil && e.Term == m.Term {
		m.Commit = index
	}
	for _, other := range m.Set.Members {
		if other.Config.Arbiter {
			continue
		}
		if other != m && other.Term == m.Term && other.followsLocked(m) {
			other.Commit = max(other.Commit, min(m.Commit, m.Matched[other.Index]))
		}
	}
	for _, other := range m.Set.Members {
		other.Data.Log.Trim(min(m.Commit, other.Commit, other.neededLocked()), m.Set.OplogBytes)
	}
}

// neededLocked returns from which index on the log must be kept for open transactions.
func (m *Member) neededLocked() int64 {
	needed := m.Data.Log.Last()
	for t := range m.Open {
		needed = min(needed, t.at)
	}
	return needed
}

// followsLocked reports whether the member gets a primary's log.
func (m *Member) followsLocked(p *Member) bool {
	if m.Reaches(p) {
		return true
	}
	_, of := m.SourceLocked()
	return of == p
}

// majorityIndex returns the highest index that a majority has of the members that vote and have data.
func (m *Member) majorityIndex() int64 {
	var sorted [setconfig.MaxMembers]int64
	n := 0
	for _, other := range m.Set.Members {
		if !other.Config.Voter() || other.Config.Arbiter {
			continue
		}
		at := n
		for ; at > 0 && sorted[at-1] < m.Matched[other.Index]; at-- {
			sorted[at] = sorted[at-1]
		}
		sorted[at] = m.Matched[other.Index]
		n++
	}
	return sorted[m.Set.WriteMajority-1]
}

// CountLocked returns how many members have the primary's log up to an index.
func (m *Member) CountLocked(index int64) int {
	n := 0
	for _, other := range m.Set.Members {
		if other.Config.BearsData() && m.Matched[other.Index] >= index {
			n++
		}
	}
	return n
}

// RollbackLocked undoes what the primary wrote after an index and nobody has seen.
func (m *Member) RollbackLocked(since int64) {
	for m.Data.Log.Last() > since {
		m.Data.Undo()
	}
	m.Matched[m.Index] = since
}

// AdvanceLocked lets the primary write a no-op if nothing of a time, or later, has been written: it was only heard of, or is of what
// was rolled back.
func (m *Member) AdvanceLocked(to store.Timestamp) {
	p := m.PrimaryLocked()
	if m.Role == Primary {
		p = m
	}
	if p == nil || p.Data.Newest() >= to || !m.passes(p) {
		return
	}
	p.AppendLocked(Noop("noop write for a read concern's time"))
	p.PublishLocked()
}

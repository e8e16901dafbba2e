package mongotest

import "time"

// appendLocked writes an entry as the primary.
func (m *member) appendLocked(e *entry) {
	e.term = m.term
	e.ts = m.set.tickLocked()
	e.written = time.Now().UnixNano()
	m.applyLocked(e)
	m.matched[m.index] = m.log.last()
}

// publishLocked lets the secondaries know of new entries, and commits at once where the primary is a majority by itself.
func (m *member) publishLocked() {
	m.set.wakeLocked()
	if m.set.majority() == 1 {
		m.commitLocked()
	}
	m.set.changedLocked() // who tails a collection
}

// wakeLocked wakes the goroutines that replicate.
func (rs *ReplicaSet) wakeLocked() {
	for _, m := range rs.members {
		if m.role == primary {
			continue
		}
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// replicate fetches what the primary has until the set is closed.
func (m *member) replicate() {
	for {
		select {
		case <-m.wake:
		case <-m.set.done:
			return
		}
		for m.fetch() {
			if sleep(m.set.done, m.untilNext()) != nil {
				return
			}
		}
	}
}

// batch is how many entries are fetched while the set's mutex is held.
const batch = 256

// fetch fetches what there is, up to a batch, and tells whether there is more.
func (m *member) fetch() bool {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from := m.sourceLocked()
	if from == nil {
		return false
	}
	m.rollBackLocked(from)
	m.fetchLocked(from, min(m.dueLocked(from), m.log.last()+batch))
	return m.log.last() < from.fetchLimit() && from.fetchLimit() > 0
}

// sourceLocked returns whom a secondary fetches from.
func (m *member) sourceLocked() *member {
	if m.set.closed || !m.up || m.role == primary {
		return nil
	}
	return m.primaryLocked()
}

// dueLocked returns up to which index the source's entries have waited out the replication delay.
func (m *member) dueLocked(from *member) int64 {
	limit, delay := from.fetchLimit(), m.set.config.replication
	if delay == 0 {
		return limit
	}
	now := time.Now().UnixNano()
	due := m.log.last()
	for ; due < limit && from.log.at(due+1) != nil; due++ {
		if from.log.at(due+1).written+int64(delay) > now {
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
	from := m.sourceLocked()
	if from == nil || rs.config.replication == 0 {
		return 0
	}
	next := from.log.at(m.log.last() + 1)
	if next == nil {
		return 0
	}
	return time.Until(time.Unix(0, next.written).Add(rs.config.replication))
}

// fetchLocked brings the member's log to what from has up to an index: first what from does not have is rolled back.
func (m *member) fetchLocked(from *member, limit int64) {
	m.term = from.term
	m.rollBackLocked(from)
	for i := m.log.last() + 1; i <= limit; i++ {
		m.applyLocked(from.log.at(i))
	}
	from.matched[m.index] = m.log.last()
	from.commitLocked()
	m.set.changedLocked()
}

// rollBackLocked undoes the entries that from does not have.
func (m *member) rollBackLocked(from *member) {
	for m.log.last() > m.log.base {
		if last := m.log.last(); last <= from.log.base || m.log.tail() == from.log.at(last) {
			return
		}
		m.undoLocked()
	}
}

// commitLocked moves the primary's commit point to what a majority has, if that is of its own term, and tells the
// members that it reaches.
func (m *member) commitLocked() {
	if m.role != primary {
		return
	}
	index := m.majorityIndex()
	if e := m.log.at(index); index > m.commit && e != nil && e.term == m.term {
		m.commit = index
	}
	least := m.commit
	for _, other := range m.set.members {
		least = min(least, m.matched[other.index])
		if other != m && m.reaches(other) && other.term == m.term {
			other.commit = max(other.commit, min(m.commit, m.matched[other.index]))
		}
	}
	for _, other := range m.set.members {
		other.log.trim(min(least, other.commit, other.neededLocked()))
	}
}

// retained is how many entries of its oplog a member keeps for those that look back, change streams and snapshots.
const retained = 1 << 16

// neededLocked returns from which index on the log is to be kept for those that look back.
func (m *member) neededLocked() int64 {
	needed := m.log.last() - retained
	for t := range m.open {
		needed = min(needed, t.at)
	}
	return needed
}

// majorityIndex returns the highest index that a majority of members has.
func (m *member) majorityIndex() int64 {
	var sorted [8]int64
	n := copy(sorted[:], m.matched)
	for i := 1; i < n; i++ {
		for j := i; j > 0 && sorted[j] > sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[m.set.majority()-1]
}

// countLocked returns how many members have the primary's log up to an index.
func (m *member) countLocked(index int64) int {
	n := 0
	for _, have := range m.matched {
		if have >= index {
			n++
		}
	}
	return n
}

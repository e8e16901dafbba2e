package mongotest

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// handover is how long after a step-down the secondary that was caught up is elected.
const handover = 2 * time.Millisecond

// catchUp is how long a step-down waits for a secondary to catch up.
const catchUp = 10 * time.Second

// reconsiderLocked lets every member draw its conclusions from a change of roles, terms or connections: an outdated
// primary gives up, who misses a primary or a majority starts a timer, who waits is told.
func (rs *ReplicaSet) reconsiderLocked() {
	for _, m := range rs.members {
		for _, other := range m.reachable() {
			if m.role == primary && other.term > m.term {
				m.stepDownLocked(other.term)
			}
		}
	}
	for _, m := range rs.members {
		m.watchLocked()
	}
	for _, m := range rs.members {
		m.refreshViewLocked()
	}
	rs.wakeLocked()
	rs.changedLocked()
}

// watchLocked starts or stops the member's timer.
func (m *member) watchLocked() {
	content := m.role == primary && m.seesMajority() || m.role == secondary && m.primaryLocked() != nil
	if !m.up || content || m.set.closed || m.set.initiation != initiated {
		m.stopTimer()
		return
	}
	if m.timer != nil {
		return
	}
	// Members of a set do not stand at the same moment; the lower one goes first.
	d := m.set.config.electionTimeout
	if m.role == secondary {
		d += time.Duration(m.index+1) * time.Millisecond
	}
	m.timer = time.AfterFunc(d, m.timeUp)
}

func (m *member) stopTimer() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
}

func (m *member) timeUp() {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m.timer = nil
	if rs.closed || !m.up {
		return
	}
	switch {
	case m.role == primary && !m.seesMajority():
		m.stepDownLocked(m.term)
	case m.role == secondary && m.primaryLocked() == nil:
		rs.holdElectionLocked(m)
	}
	rs.reconsiderLocked()
}

// holdElectionLocked elects the best of the members that the caller reaches, if they are a majority.
func (rs *ReplicaSet) holdElectionLocked(caller *member) {
	voters := caller.reachable()
	if len(voters) < rs.majority() {
		return
	}
	candidates := slices.Clone(voters)
	slices.SortStableFunc(candidates, func(a, b *member) int {
		switch {
		case a.newerThan(b):
			return -1
		case b.newerThan(a):
			return 1
		case a == caller:
			return -1
		case b == caller:
			return 1
		}
		return a.index - b.index
	})
	for _, c := range candidates {
		if !c.electable() {
			continue
		}
		votes := 0
		for _, v := range voters {
			if !v.newerThan(c) {
				votes++
			}
		}
		if votes >= rs.majority() {
			rs.electLocked(c)
			return
		}
	}
}

// electLocked makes m primary in a new term, which begins with a no-op in its log.
func (rs *ReplicaSet) electLocked(m *member) {
	term := int64(0)
	for _, v := range m.reachable() {
		term = max(term, v.term)
	}
	m.role, m.term = primary, term+1
	m.matched = make([]int64, len(rs.members))
	m.held = nil
	if rs.config.mutant.DeduplicationLostAtFailover && term > 0 {
		clear(m.sessions)
	}
	for _, v := range m.reachable() {
		if v != m && v.role == primary {
			v.stepDownLocked(m.term)
		}
		v.term = m.term
	}
	m.appendLocked(&entry{kind: noop})
	m.publishLocked()
}

// stepDownLocked makes a primary a secondary. What waits for its writes to be acknowledged is told by changedLocked.
func (m *member) stepDownLocked(term int64) {
	m.role, m.term = secondary, max(m.term, term)
	m.held = nil
	m.abortAllLocked()
	m.stopTimer()
}

// StepDown makes the primary step down in favour of a secondary, once that has caught up, for which it waits up to ten
// seconds. When it returns the old primary takes no writes; the new one is elected two milliseconds later, and the
// old one does not stand for that election. [ReplicaSet.WaitPrimary] waits for the new one.
func (rs *ReplicaSet) StepDown() error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m := rs.newestPrimaryLocked()
	if m == nil {
		return errors.New("mongotest: there is no primary to step down")
	}
	return rs.stepDownLocked(m, handover, catchUp, false, rs.done)
}

// stepDownLocked gives up the mutex while it waits.
func (rs *ReplicaSet) stepDownLocked(m *member, freeze, limit time.Duration, force bool, stop <-chan struct{}) error {
	term, target := m.term, m.log.last()
	m.held = nil
	rs.wakeLocked()
	var heir *member
	w := newWaiter(func() bool {
		heir = m.heirLocked(target)
		return heir != nil || m.role != primary || m.term != term
	})
	err := rs.awaitLocked(w, stop, limit)
	switch {
	case err == nil && heir == nil:
		return failf(codeNotWritablePrimary, "mongotest: member %d is no longer primary", m.index)
	case errors.Is(err, errHangUp):
		return err
	case err != nil && !force:
		return failf(codeExceededTimeLimit, "No electable secondaries caught up as of %s. Please use the replSetStepDown "+
			"command with the argument {force: true} to force node to step down.", time.Now().UTC().Format(time.RFC3339))
	}
	if heir != nil {
		heir.fetchLocked(m, m.log.last())
	}
	m.stepDownLocked(m.term)
	m.frozen = time.Now().Add(freeze)
	if heir != nil {
		time.AfterFunc(handover, heir.succeed)
	}
	rs.reconsiderLocked()
	return nil
}

// heirLocked returns a secondary that could be elected and has the log up to an index. What was written since then it
// gets in the moment of the step-down, when nothing more can be written.
func (m *member) heirLocked(index int64) *member {
	if m.role != primary || !m.seesMajority() {
		return nil
	}
	for _, other := range m.set.members {
		if other != m && m.reaches(other) && other.electable() && m.matched[other.index] >= index {
			return other
		}
	}
	return nil
}

// succeed makes the heir of a primary that stepped down stand for election at once.
func (m *member) succeed() {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed || !m.up || m.role == primary || m.primaryLocked() != nil {
		return
	}
	rs.holdElectionLocked(m)
	rs.reconsiderLocked()
}

// Kill ends a member as the death of its process does: its connections are closed, new ones refused (on TCP: accepted
// and reset), and what it was executing gets no reply. Its data stays for Restart. Killing a dead member does nothing.
func (rs *ReplicaSet) Kill(member int) {
	rs.mu.Lock()
	m := rs.members[member]
	if !m.up {
		rs.mu.Unlock()
		return
	}
	m.up, m.role = false, secondary
	m.epoch++
	m.held = nil
	m.abortAllLocked()
	m.stopTimer()
	var conns []*conn
	for c := range m.conns {
		conns = append(conns, c)
	}
	rs.reconsiderLocked()
	rs.mu.Unlock()
	for _, c := range conns {
		c.abort()
	}
}

// Restart starts a killed member with the data it had; the only one of its set is primary again at once. Restarting a member
// that runs does nothing.
func (rs *ReplicaSet) Restart(member int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m := rs.members[member]
	if m.up || rs.closed {
		return
	}
	m.startLocked()
	if rs.majority() == 1 && rs.initiation == initiated && m.electable() {
		rs.electLocked(m)
	}
	rs.reconsiderLocked()
}

// Isolate cuts a member off from the other members and from its clients: bytes stop flowing, connections stay open and
// silent, new dials (by the set's Dialer) wait. Heal ends it.
func (rs *ReplicaSet) Isolate(member int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.members[member].gate.set(true)
	rs.reconsiderLocked()
}

// Partition cuts the members into groups between which nothing passes; clients reach them all. Members that are in no
// group form one together. A new partition replaces the old one.
func (rs *ReplicaSet) Partition(groups ...[]int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	group := make([]int, len(rs.members))
	for g, members := range groups {
		for _, m := range members {
			group[m] = g + 1
		}
	}
	for i := range group {
		for j := range group {
			rs.cut[i][j] = group[i] != group[j]
		}
	}
	rs.reconsiderLocked()
}

// Heal ends every isolation and partition. It does not restart killed members.
func (rs *ReplicaSet) Heal() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i, m := range rs.members {
		m.gate.set(false)
		clear(rs.cut[i])
	}
	rs.reconsiderLocked()
}

// electionID returns the id of a primary's term, which grows with it as a real one does.
func electionID(term int64) [12]byte {
	id := [12]byte{0x7f, 0xff, 0xff, 0xff}
	binary.BigEndian.PutUint64(id[4:], uint64(term))
	return id
}

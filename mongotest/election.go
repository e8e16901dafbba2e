package mongotest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// handover is how long after a step-down the secondary that was caught up is elected.
const handover = 2 * time.Millisecond

// catchUp is how long a step-down waits for a secondary to catch up.
const catchUp = 10 * time.Second

// freshness is how far behind the primary a member may be that takes over for its priority, in seconds.
const freshness = 2

// electionAction is what a member does when its election timer fires.
type electionAction uint8

const (
	noAction         electionAction = iota
	stepDown                        // a primary without a majority becomes a secondary
	runForElection                  // a member without a primary stands for election
	priorityTakeover                // a member stands because its priority is higher than the primary's
)

// reconsiderLocked lets every member draw its conclusions from a change of roles, terms, connections or the configuration:
// an outdated primary gives up, who misses a primary or a majority starts a timer, who waits is told.
func (rs *Deployment) reconsiderLocked() {
	for rs.spreadTermsLocked() {
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

// spreadTermsLocked lets every member hear the terms of those whose messages get to it, and reports whether one was news.
func (rs *Deployment) spreadTermsLocked() bool {
	news := false
	for _, m := range rs.members {
		for _, other := range rs.members {
			if other.term > m.term && other.passes(m) {
				m.learnLocked(other.term)
				news = true
			}
		}
	}
	return news
}

// learnLocked takes note of a term; a primary of an older one steps down.
func (m *member) learnLocked(term int64) {
	if term <= m.term {
		return
	}
	m.term = term
	if m.role == primary {
		m.stepDownLocked()
	}
}

// watchLocked starts the timer of what the member has to do, or stops it.
func (m *member) watchLocked() {
	wanted := m.dueActionLocked()
	if wanted == m.action {
		return
	}
	m.stopTimer()
	if m.action = wanted; wanted == noAction {
		return
	}
	m.timers++
	n := m.timers
	m.timer = time.AfterFunc(m.actionDelayLocked(), func() { m.timerFired(n) })
}

// dueActionLocked returns the action that the member is to do unless its situation changes.
func (m *member) dueActionLocked() electionAction {
	known := m
	if m.role != primary {
		_, known = m.sourceLocked()
	}
	switch {
	case !m.up || m.set.closed || m.set.initiation != initiated, m.role == primary && m.seesMajority():
		return noAction
	case m.role == primary:
		return stepDown
	case !m.config.Electable():
		return noAction
	case known == nil:
		return runForElection
	case known.config.Priority < m.config.Priority:
		return priorityTakeover
	}
	return noAction
}

// actionDelayLocked is how long the member waits before it does its action.
func (m *member) actionDelayLocked() time.Duration {
	switch timeout := m.set.electionTimeout; {
	case m.action == runForElection && m.set.votes == 1:
		return time.Until(m.frozen) // there is nobody else to wait for
	case m.action == runForElection:
		return timeout + m.offset()
	case m.action == priorityTakeover:
		return m.rankLocked()*timeout + m.offset()
	default:
		return timeout
	}
}

// offset is what keeps members from standing at the same moment: up to 15 % of the election timeout.
func (m *member) offset() time.Duration {
	return time.Duration(m.random.Int64N(int64(m.set.electionTimeout)*15/100 + 1))
}

// rankLocked is the member's place when all are sorted by priority, the highest first, counted from 1.
func (m *member) rankLocked() time.Duration {
	rank := time.Duration(1)
	for _, other := range m.set.members {
		if !other.config.Removed && other.config.Priority > m.config.Priority {
			rank++
		}
	}
	return rank
}

func (m *member) stopTimer() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	m.action = noAction
}

// timerFired does the action of the n-th timer, unless that was stopped meanwhile.
func (m *member) timerFired(n int) {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	action := m.action
	if action == noAction || m.timers != n {
		return
	}
	m.timer, m.action = nil, noAction
	switch action {
	case stepDown:
		m.stepDownLocked()
	case runForElection:
		m.standLocked()
	case priorityTakeover:
		if p := m.primaryLocked(); p != nil && m.freshLocked(p) {
			m.standLocked()
		}
	case noAction:
	}
	rs.reconsiderLocked()
}

// freshLocked reports whether the member is close enough behind the primary to take over from it.
func (m *member) freshLocked(p *member) bool {
	mine, its := m.data.Log.Tail(), p.data.Log.Tail()
	return mine != nil && mine.TS.Seconds()+freshness >= its.TS.Seconds()
}

// standLocked makes the member a candidate: it asks for votes without obligation first, so that one who cannot win does not
// disturb the others with a new term.
func (m *member) standLocked() {
	term := m.term + 1
	if m.role == primary || !m.electable() || m.pollLocked(term, true) < m.set.voteMajority {
		return
	}
	if m.pollLocked(term, false) >= m.set.voteMajority {
		m.winLocked(term)
	}
}

// pollLocked asks every voter that a request gets to, and returns how many votes get back.
func (m *member) pollLocked(term int64, dry bool) int {
	votes := 0
	for _, v := range m.set.members {
		if v.config.Voter() && m.passes(v) && v.voteLocked(m, term, dry) && v.passes(m) {
			votes++
		}
	}
	return votes
}

// voteLocked reports whether the member votes for a candidate. It does so only for who has all that it has, and once in a term,
// because with its vote it learns the term.
func (m *member) voteLocked(candidate *member, term int64, dry bool) bool {
	switch p := m.primaryLocked(); {
	case term <= m.term, m.newerThan(candidate):
		return false
	case m.config.Arbiter && p != nil && p.config.Priority >= candidate.config.Priority:
		return false
	}
	if !dry {
		m.learnLocked(term)
	}
	return true
}

// winLocked makes m the primary of a term, which begins with a no-op in its log.
func (m *member) winLocked(term int64) {
	m.role, m.term, m.elected = primary, term, time.Now()
	m.matched = make([]int64, len(m.set.members))
	m.held = nil
	if m.set.config.mutant.DeduplicationLostAtFailover && term > 1 {
		clear(m.data.Sessions)
		clear(m.transactions)
	}
	m.catchUpLocked()
	m.appendLocked(noop(begun(term)))
	m.dropTemporariesLocked()
	m.publishLocked()
}

// begun is why the first entry of a term is written.
func begun(term int64) string {
	if term == 1 {
		return "initiating set"
	}
	return "new primary"
}

// catchUpLocked brings a new primary what others know beyond its log, so that as little as possible is rolled back.
func (m *member) catchUpLocked() {
	best := m
	for _, other := range m.set.members {
		if m.reaches(other) && other.newerThan(best) && m.data.Log.Last() > 0 && other.data.Log.At(m.data.Log.Last()) == m.data.Log.Tail() {
			best = other
		}
	}
	for i := m.data.Log.Last() + 1; i <= best.data.Log.Last(); i++ {
		m.data.Apply(best.data.Log.At(i))
	}
}

// stepDownLocked makes a primary a secondary. changedLocked wakes those who wait for the acknowledgement of its writes.
func (m *member) stepDownLocked() {
	m.role = secondary
	m.held = nil
	m.abortAllLocked()
	clear(m.transactions) // the log, which a rollback changes, says which of them are committed
	m.stopTimer()
}

// StepDown makes the primary step down in favour of a secondary, once that has caught up, for which it waits up to ten
// seconds. When it returns the old primary takes no writes; the new one is elected two milliseconds later, and the
// old one does not stand for that election. [Deployment.WaitPrimary] waits for the new one.
func (rs *Deployment) StepDown() error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m := rs.newestPrimaryLocked()
	if m == nil {
		return errors.New("mongotest: there is no primary to step down")
	}
	return rs.stepDownLocked(m, handover, catchUp, false, rs.done)
}

// stepDownLocked gives up the mutex while it waits.
func (rs *Deployment) stepDownLocked(m *member, freeze, limit time.Duration, force bool, stop <-chan struct{}) error {
	term, target := m.term, m.data.Log.Last()
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
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "mongotest: member %d is no longer primary", m.index)
	case errors.Is(err, errHangUp):
		return err
	case err != nil && !force:
		return mongoerr.Errorf(mongoerr.ExceededTimeLimit, "No electable secondaries caught up as of %s. Please use the replSetStepDown "+
			"command with the argument {force: true} to force node to step down.", time.Now().UTC().Format(time.RFC3339))
	}
	if heir != nil {
		heir.fetchLocked(m, m, m.data.Log.Last())
	}
	m.stepDownLocked()
	m.frozen = time.Now().Add(freeze)
	if heir != nil {
		time.AfterFunc(handover, heir.succeed)
	}
	rs.reconsiderLocked()
	return nil
}

// heirLocked returns who is to be the next primary: of those that can be elected and have the log up to an index, as a
// majority must, the one of the highest priority. It gets the later writes in the moment of the step-down, when
// nothing more can be written.
func (m *member) heirLocked(index int64) *member {
	if m.role != primary || !m.seesMajority() || m.majorityIndex() < index {
		return nil
	}
	var heir *member
	for _, other := range m.set.members {
		if other != m && m.reaches(other) && other.electable() && m.matched[other.index] >= index &&
			(heir == nil || other.config.Priority > heir.config.Priority) {
			heir = other
		}
	}
	return heir
}

// succeed makes the heir of a primary that stepped down stand for election at once.
func (m *member) succeed() {
	rs := m.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed || !m.up || m.primaryLocked() != nil {
		return
	}
	m.standLocked()
	rs.reconsiderLocked()
}

// Kill ends a member as the death of its process does: its connections are closed, new ones refused (on TCP: accepted
// and reset), and what it was executing gets no reply. Its data stays for Restart. Killing a dead member does nothing.
func (rs *Deployment) Kill(member int) {
	for _, c := range orPanic(rs.memberAt("Kill", member)).kill() {
		c.abort()
	}
}

// kill ends the member, unless it is dead, and returns its connections, which are to be aborted.
func (m *member) kill() []*conn {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	if !m.up {
		return nil
	}
	m.stepDownLocked()
	conns := m.stopLocked()
	m.set.reconsiderLocked()
	return conns
}

// Restart starts a killed member with the data it had; the only one of its set is primary again at once. Restarting a member
// that runs does nothing.
func (rs *Deployment) Restart(member int) {
	m := orPanic(rs.memberAt("Restart", member))
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m.up || rs.closed {
		return
	}
	m.startLocked()
	if rs.votes == 1 {
		m.standLocked()
	}
	rs.reconsiderLocked()
}

// Isolate cuts a member off from the other members and from its clients: bytes stop flowing, connections stay open and
// silent, new dials (by the set's Dialer) wait. Heal ends it.
func (rs *Deployment) Isolate(member int) {
	m := orPanic(rs.memberAt("Isolate", member))
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m.gate.Set(true)
	rs.reconsiderLocked()
}

// Partition cuts the members into groups between which nothing passes; clients reach them all. Members that are in no
// group form one together. A new partition replaces the old one. It panics if a member is in two groups.
func (rs *Deployment) Partition(groups ...[]int) {
	group := make(map[int]int) // of a member, counted from 1
	for g, members := range groups {
		for _, m := range members {
			orPanic(rs.memberAt("Partition", m))
			if group[m] != 0 && group[m] != g+1 {
				panic(fmt.Sprintf("mongotest: Partition: member %d is in two groups", m))
			}
			group[m] = g + 1
		}
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i := range rs.members {
		for j := range rs.members {
			rs.cut[i][j] = group[i] != group[j]
		}
	}
	rs.reconsiderLocked()
}

// PartitionOneWay loses the messages of one member to another; those in the other direction and clients' are not concerned.
// As heartbeats, votes and fetching the oplog are requests with a response, the two members do not see each other: neither
// counts the other towards a majority, votes for it or replicates from it. But a request that gets through is read: a term
// that it carries is learned, so that an outdated primary steps down at once. A secondary cut off from the primary replicates
// from another one that both reach. It adds to the partition there is.
func (rs *Deployment) PartitionOneWay(from, to int) {
	orPanic(rs.memberAt("PartitionOneWay", from))
	orPanic(rs.memberAt("PartitionOneWay", to))
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.cut[from][to] = from != to
	rs.reconsiderLocked()
}

// SetLag sets how long after a write a member fetches it, beside the set's ReplicationDelay; a negative lag counts as none.
// Earlier writes that are due by the new lag are fetched at once.
func (rs *Deployment) SetLag(member int, lag time.Duration) {
	m := orPanic(rs.memberAt("SetLag", member))
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m.lag = max(0, lag)
	rs.wakeLocked()
}

// Heal ends every isolation and partition. It does not restart killed members.
func (rs *Deployment) Heal() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i, m := range rs.members {
		m.gate.Set(false)
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

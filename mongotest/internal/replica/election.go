package replica

import (
	"encoding/binary"
	"time"
)

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
func (rs *Set) reconsiderLocked() {
	for rs.spreadTermsLocked() {
	}
	for _, m := range rs.Members {
		m.watchLocked()
	}
	for _, m := range rs.Members {
		m.refreshViewLocked()
	}
	rs.WakeLocked()
	rs.ChangedLocked()
}

// spreadTermsLocked lets every member hear the terms of those whose messages get to it, and reports whether one was news.
func (rs *Set) spreadTermsLocked() bool {
	news := false
	for _, m := range rs.Members {
		for _, other := range rs.Members {
			if other.Term > m.Term && other.passes(m) {
				m.learnLocked(other.Term)
				news = true
			}
		}
	}
	return news
}

// learnLocked takes note of a term; a primary of an older one steps down.
func (m *Member) learnLocked(term int64) {
	if term <= m.Term {
		return
	}
	m.Term = term
	if m.Role == Primary {
		m.stepDownLocked()
	}
}

// watchLocked starts the timer of what the member has to do, or stops it.
func (m *Member) watchLocked() {
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
func (m *Member) dueActionLocked() electionAction {
	known := m
	if m.Role != Primary {
		_, known = m.SourceLocked()
	}
	switch {
	case !m.Up || m.Set.Closed || m.Set.Initiation != Initiated, m.Role == Primary && m.SeesMajority():
		return noAction
	case m.Role == Primary:
		return stepDown
	case !m.Config.Electable():
		return noAction
	case known == nil:
		return runForElection
	case known.Config.Priority < m.Config.Priority:
		return priorityTakeover
	}
	return noAction
}

// actionDelayLocked is how long the member waits before it does its action.
func (m *Member) actionDelayLocked() time.Duration {
	switch timeout := m.Set.ElectionTimeout; {
	case m.action == runForElection && m.Set.Votes == 1:
		return time.Until(m.Frozen) // there is nobody else to wait for
	case m.action == runForElection:
		return timeout + m.offset()
	case m.action == priorityTakeover:
		return m.rankLocked()*timeout + m.offset()
	default:
		return timeout
	}
}

// offset is what keeps members from standing at the same moment: up to 15 % of the election timeout.
func (m *Member) offset() time.Duration {
	return time.Duration(m.random.Int64N(int64(m.Set.ElectionTimeout)*15/100 + 1))
}

// rankLocked is the member's place when all are sorted by priority, the highest first, counted from 1.
func (m *Member) rankLocked() time.Duration {
	rank := time.Duration(1)
	for _, other := range m.Set.Members {
		if !other.Config.Removed && other.Config.Priority > m.Config.Priority {
			rank++
		}
	}
	return rank
}

func (m *Member) stopTimer() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	m.action = noAction
}

// timerFired does the action of the n-th timer, unless that was stopped meanwhile.
func (m *Member) timerFired(n int) {
	rs := m.Set
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
		if p := m.PrimaryLocked(); p != nil && m.freshLocked(p) {
			m.standLocked()
		}
	case noAction:
	}
	rs.reconsiderLocked()
}

// freshLocked reports whether the member is close enough behind the primary to take over from it.
func (m *Member) freshLocked(p *Member) bool {
	mine, its := m.Data.Log.Tail(), p.Data.Log.Tail()
	return mine != nil && mine.TS.Seconds()+freshness >= its.TS.Seconds()
}

// standLocked makes the member a candidate: it asks for votes without obligation first, so that one who cannot win does not
// disturb the others with a new term.
func (m *Member) standLocked() {
	term := m.Term + 1
	if m.Role == Primary || !m.electable() || m.pollLocked(term, true) < m.Set.VoteMajority {
		return
	}
	if m.pollLocked(term, false) >= m.Set.VoteMajority {
		m.winLocked(term)
	}
}

// pollLocked asks every voter that a request gets to, and returns how many votes get back.
func (m *Member) pollLocked(term int64, dry bool) int {
	votes := 0
	for _, v := range m.Set.Members {
		if v.Config.Voter() && m.passes(v) && v.voteLocked(m, term, dry) && v.passes(m) {
			votes++
		}
	}
	return votes
}

// voteLocked reports whether the member votes for a candidate. It does so only for who has all that it has, and once in a term,
// because with its vote it learns the term.
func (m *Member) voteLocked(candidate *Member, term int64, dry bool) bool {
	switch p := m.PrimaryLocked(); {
	case term <= m.Term, m.newerThan(candidate):
		return false
	case m.Config.Arbiter && p != nil && p.Config.Priority >= candidate.Config.Priority:
		return false
	}
	if !dry {
		m.learnLocked(term)
	}
	return true
}

// winLocked makes m the primary of a term, which begins with a no-op in its log.
func (m *Member) winLocked(term int64) {
	m.Role, m.Term, m.Elected = Primary, term, time.Now()
	m.Matched = make([]int64, len(m.Set.Members))
	m.held = nil
	m.catchUpLocked()
	m.AppendLocked(Noop(begun(term)))
	m.dropTemporariesLocked()
	m.PublishLocked()
}

// begun is why the first entry of a term is written.
func begun(term int64) string {
	if term == 1 {
		return "initiating set"
	}
	return "new primary"
}

// catchUpLocked brings a new primary what others know beyond its log, so that as little as possible is rolled back.
func (m *Member) catchUpLocked() {
	best := m
	for _, other := range m.Set.Members {
		if m.Reaches(other) && other.newerThan(best) && m.Data.Log.Last() > 0 && other.Data.Log.At(m.Data.Log.Last()) == m.Data.Log.Tail() {
			best = other
		}
	}
	for i := m.Data.Log.Last() + 1; i <= best.Data.Log.Last(); i++ {
		m.Data.Apply(best.Data.Log.At(i))
	}
}

// ElectionID returns the id of a primary's term, which grows with it as a real one does.
func ElectionID(term int64) [12]byte {
	id := [12]byte{0x7f, 0xff, 0xff, 0xff}
	binary.BigEndian.PutUint64(id[4:], uint64(term))
	return id
}

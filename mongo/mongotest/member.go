package mongotest

import (
	"net"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// role is what a member that runs is in its set.
type role uint8

const (
	secondary role = iota
	primary
)

// String returns "primary" or "secondary".
func (r role) String() string {
	if r == primary {
		return "primary"
	}
	return "secondary"
}

// member is one server of the set. Its fields are guarded by the set's mutex but for those that never change.
type member struct {
	set      *ReplicaSet
	index    int
	addr     string
	listener net.Listener  // nil in memory
	wake     chan struct{} // tells the replicating goroutine that there may be something to fetch
	gate     gate
	lastTS   atomic.Uint64 // of the newest oplog entry

	up     bool
	epoch  int64 // counts the member's starts
	role   role
	term   int64
	frozen time.Time // until when it does not stand for election

	log         oplog
	commit      int64 // index up to which it knows that a majority has the log
	matched     []int64
	held        []int64 // as primary: indexes from which on nothing may be fetched yet
	collections catalog
	sessions    map[string]*session
	open        map[*transaction]struct{}
	locks       map[lock]*transaction

	config     memberConfig
	parameters map[string]parameter // since its start
	started    time.Time
	accepted   int // connections since its start
	tally

	timer   *time.Timer // runs while it misses a primary, or as primary a majority
	conns   map[*conn]struct{}
	cursors map[int64]*cursor
	points  map[string]*failPoint

	view      view
	processID bson.ObjectID
	counter   int64
	changed   chan struct{} // closed when view changes
}

// view is what of a member's state its hello shows.
type view struct {
	role    role
	primary int
	term    int64
	config  int64 // its version
}

func newMember(set *ReplicaSet, index int) *member {
	m := &member{set: set, index: index, wake: make(chan struct{}, 1), tally: newTally()}
	m.collections = make(catalog)
	m.sessions = make(map[string]*session)
	m.conns = make(map[*conn]struct{})
	m.config = memberConfig{id: int64(index), priority: 1}
	m.startLocked()
	return m
}

// startLocked makes the member run, with the data that it has.
func (m *member) startLocked() {
	m.up = true
	m.epoch++
	m.parameters, m.started, m.accepted = m.set.parameters(), time.Now(), 0
	m.role = secondary
	m.held = nil
	m.frozen = time.Time{}
	m.cursors = make(map[int64]*cursor)
	m.points = make(map[string]*failPoint)
	m.open, m.locks = make(map[*transaction]struct{}), make(map[lock]*transaction)
	m.processID = bson.NewObjectID()
	m.counter = 0
	m.changed = make(chan struct{})
	m.view = view{primary: -2}
}

// reaches tells whether messages pass between two members.
func (m *member) reaches(other *member) bool {
	if m == other {
		return m.up
	}
	return m.up && other.up && !m.gate.shut.Load() && !other.gate.shut.Load() && !m.set.cut[m.index][other.index]
}

// reachable returns the members that m reaches, itself included.
func (m *member) reachable() []*member {
	var list []*member
	for _, other := range m.set.members {
		if m.reaches(other) {
			list = append(list, other)
		}
	}
	return list
}

func (m *member) seesMajority() bool { return len(m.reachable()) >= m.set.majority() }

// primaryLocked returns the primary that m follows, nil if there is none.
func (m *member) primaryLocked() *member {
	var found *member
	for _, other := range m.set.members {
		if other.role == primary && other.term >= m.term && m.reaches(other) && (found == nil || other.term > found.term) {
			found = other
		}
	}
	return found
}

// newerThan compares two members' logs as voters do.
func (m *member) newerThan(other *member) bool {
	a, b := m.log.tail(), other.log.tail()
	switch {
	case a == nil || b == nil:
		return a != nil
	case a.term != b.term:
		return a.term > b.term
	}
	return m.log.last() > other.log.last()
}

// fetchLimit is up to which index others may fetch the log.
func (m *member) fetchLimit() int64 {
	limit := m.log.last()
	for _, h := range m.held {
		limit = min(limit, h)
	}
	return limit
}

// holdLocked keeps what is applied from now on from being fetched; the returned function ends that.
func (m *member) holdLocked() func() {
	at, epoch := m.log.last(), m.epoch
	m.held = append(m.held, at)
	return func() {
		m.set.mu.Lock()
		defer m.set.mu.Unlock()
		if epoch != m.epoch {
			return
		}
		for i, h := range m.held {
			if h == at {
				m.held = append(m.held[:i], m.held[i+1:]...)
				break
			}
		}
		m.set.wakeLocked()
	}
}

// refreshViewLocked notes what the member's hello shows and tells those who wait for a change of it.
func (m *member) refreshViewLocked() {
	now := view{role: m.role, primary: -1, term: m.term, config: m.set.configVersion}
	if p := m.primaryLocked(); p != nil {
		now.primary = p.index
	}
	if now == m.view {
		return
	}
	m.view = now
	m.counter++
	close(m.changed)
	m.changed = make(chan struct{})
}

package mongotest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
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

// member is one member of the set. Its fields are guarded by the set's mutex but for those that never change.
type member struct {
	server
	index  int
	wake   chan struct{} // tells the replicating goroutine that there may be something to fetch
	random *rand.Rand    // makes its elections' offsets

	role    role
	term    int64
	elected time.Time // when it became primary
	frozen  time.Time // until when it does not stand for election
	stale   bool      // it needs entries that nobody has any more, and is RECOVERING

	data         *store.Store
	commit       int64 // index up to which it knows that a majority has the log
	matched      []int64
	held         []int64                 // as primary: indexes from which on nothing may be fetched yet
	transactions map[string]*transaction // the newest that began here, by its session
	usage        usage
	open         map[*transaction]struct{}
	fsyncLocks   int64 // how often it was locked against writes, see fsync
	locks        map[lock]*transaction

	config setconfig.Member
	lag    time.Duration // how long after a write it fetches it, beside what the configuration says
	action electionAction
	timer  *time.Timer // for the action, nil if there is none
	timers int         // how many it has started

	cursors     map[int64]*cursor
	planFilters map[store.UUID]planfilter.Filters // index filters of collections
	view        view
}

// view is what of a member's state its hello shows.
type view struct {
	role    role
	primary int
	term    int64
	config  int64 // its version
}

func newMember(set *Deployment, index int) *member {
	m := &member{index: index, wake: make(chan struct{}, 1)}
	m.server = server{
		set: set, member: m, conns: make(map[*conn]struct{}), tally: newTally(),
		listening: listening{name: fmt.Sprintf("member %d", index), host: fmt.Sprintf("m%d", index)},
	}
	m.random = rand.New(rand.NewPCG(uint64(set.config.seed), uint64(index)+1))
	m.data = store.New()
	m.transactions = make(map[string]*transaction)
	m.startLocked()
	return m
}

// startLocked makes the member run, with the data that it has.
func (m *member) startLocked() {
	m.server.startLocked()
	m.role = secondary
	m.held, m.fsyncLocks = nil, 0
	m.frozen = time.Time{}
	m.cursors = make(map[int64]*cursor)
	m.planFilters = make(map[store.UUID]planfilter.Filters)
	m.open, m.locks = make(map[*transaction]struct{}), make(map[lock]*transaction)
	m.view = view{primary: -2}
}

// passes reports whether a message of m gets to another member.
func (m *member) passes(to *member) bool {
	return m.linked(to) && (m == to || !m.config.Removed && !to.config.Removed)
}

// linked reports whether bytes of m get to another server.
func (m *member) linked(to *member) bool {
	if m == to {
		return m.up
	}
	return m.up && to.up && !m.gate.IsShut() && !to.gate.IsShut() && !m.set.cut[m.index][to.index]
}

// reaches reports whether two members hear of each other. Heartbeats, votes and fetching are requests with a response, so that
// a link that is cut one way ends them both ways.
func (m *member) reaches(other *member) bool { return m.passes(other) && other.passes(m) }

// seesMajority reports whether the member reaches, itself included, a majority of those who vote.
func (m *member) seesMajority() bool {
	votes := 0
	for _, other := range m.set.members {
		if other.config.Voter() && m.reaches(other) {
			votes++
		}
	}
	return votes >= m.set.voteMajority
}

// primaryLocked returns the primary that m reaches, nil if there is none.
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
	a, b := m.data.Log.Tail(), other.data.Log.Tail()
	switch {
	case a == nil || b == nil:
		return a != nil
	case a.Term != b.Term:
		return a.Term > b.Term
	}
	return m.data.Log.Last() > other.data.Log.Last()
}

// fetchLimit is up to which index others may fetch the log.
func (m *member) fetchLimit() int64 {
	limit := m.data.Log.Last()
	for _, h := range m.held {
		limit = min(limit, h)
	}
	return limit
}

// holdLocked prevents entries that are applied from now on from being fetched; the returned function ends that.
func (m *member) holdLocked() func() {
	at, epoch := m.data.Log.Last(), m.epoch
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
	m.showLocked()
}

package replica

import (
	"math/rand/v2"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Role is what a member that runs is in its set.
type Role uint8

// The roles of a member.
const (
	Secondary Role = iota
	Primary
)

// String returns "primary" or "secondary".
func (r Role) String() string {
	if r == Primary {
		return "primary"
	}
	return "secondary"
}

// Member is one member of the set: its role, its data, and how far it has them. Its fields are guarded by the set's mutex but for those
// that never change.
type Member struct {
	Process
	Set    *Set
	Index  int
	wake   chan struct{} // tells the replicating goroutine that there may be something to fetch
	random *rand.Rand    // makes its elections' offsets

	Role    Role
	Term    int64
	Elected time.Time // when it became primary
	Frozen  time.Time // until when it does not stand for election
	Stale   bool      // it needs entries that nobody has any more, and is RECOVERING

	Data         *store.Store
	Commit       int64 // index up to which it knows that a majority has the log
	Matched      []int64
	held         []int64                 // as primary: indexes from which on nothing may be fetched yet
	Transactions map[string]*Transaction // the newest that began here, by its session
	Open         map[*Transaction]struct{}
	locks        map[lock]*Transaction
	FsyncLocks   int64 // how often it was locked against writes, see fsync
	FetchesNone  bool  // a fail point keeps it from fetching

	Config setconfig.Member
	Lag    time.Duration // how long after a write it fetches it, beside what the configuration says
	action electionAction
	timer  *time.Timer // for the action, nil if there is none
	timers int         // how many it has started

	view view
}

// NewMember returns a member of the set that does not run. It is not among the set's members yet.
func NewMember(rs *Set, index int) *Member {
	return &Member{
		Set: rs, Index: index, wake: make(chan struct{}, 1), random: rand.New(rand.NewPCG(uint64(rs.Seed), uint64(index)+1)),
		Data: store.New(), Transactions: make(map[string]*Transaction),
	}
}

// StartLocked makes the member run, with the data that it has.
func (m *Member) StartLocked() {
	m.Process.StartLocked(m.Set.NewParameters())
	m.Role = Secondary
	m.held, m.FsyncLocks, m.FetchesNone = nil, 0, false
	m.Frozen = time.Time{}
	m.Open, m.locks = make(map[*Transaction]struct{}), make(map[lock]*Transaction)
	m.view = view{primary: -2}
}

// RejoinLocked brings a member that has started back among the others. The only voter is primary again at once.
func (m *Member) RejoinLocked() {
	if m.Set.Votes == 1 {
		m.standLocked()
	}
	m.Set.reconsiderLocked()
}

// LeaveLocked ends the member as the death of its process does; its data stay.
func (m *Member) LeaveLocked() {
	m.stepDownLocked()
	m.StopLocked()
	m.Set.reconsiderLocked()
}

// passes reports whether a message of m gets to another member.
func (m *Member) passes(to *Member) bool {
	return m.Linked(to) && (m == to || !m.Config.Removed && !to.Config.Removed)
}

// Linked reports whether bytes of m get to another server.
func (m *Member) Linked(to *Member) bool {
	if m == to {
		return m.Up
	}
	return m.Up && to.Up && !m.Gate.IsShut() && !to.Gate.IsShut() && !m.Set.cut[m.Index][to.Index]
}

// Reaches reports whether two members hear of each other. Heartbeats, votes and fetching are requests with a response, so that
// a link that is cut one way ends them both ways.
func (m *Member) Reaches(other *Member) bool { return m.passes(other) && other.passes(m) }

// SeesMajority reports whether the member reaches, itself included, a majority of those who vote.
func (m *Member) SeesMajority() bool {
	votes := 0
	for _, other := range m.Set.Members {
		if other.Config.Voter() && m.Reaches(other) {
			votes++
		}
	}
	return votes >= m.Set.VoteMajority
}

// PrimaryLocked returns the primary that m reaches, nil if there is none.
func (m *Member) PrimaryLocked() *Member {
	var found *Member
	for _, other := range m.Set.Members {
		if other.Role == Primary && other.Term >= m.Term && m.Reaches(other) && (found == nil || other.Term > found.Term) {
			found = other
		}
	}
	return found
}

// newerThan compares two members' logs as voters do.
func (m *Member) newerThan(other *Member) bool {
	a, b := m.Data.Log.Tail(), other.Data.Log.Tail()
	switch {
	case a == nil || b == nil:
		return a != nil
	case a.Term != b.Term:
		return a.Term > b.Term
	}
	return m.Data.Log.Last() > other.Data.Log.Last()
}

// fetchLimit is up to which index others may fetch the log.
func (m *Member) fetchLimit() int64 {
	limit := m.Data.Log.Last()
	for _, h := range m.held {
		limit = min(limit, h)
	}
	return limit
}

// HoldLocked prevents entries that are applied from now on from being fetched; the returned function ends that.
func (m *Member) HoldLocked() func() {
	at, epoch := m.Data.Log.Last(), m.Epoch
	m.held = append(m.held, at)
	return func() {
		m.Set.mu.Lock()
		defer m.Set.mu.Unlock()
		if epoch != m.Epoch {
			return
		}
		for i, h := range m.held {
			if h == at {
				m.held = append(m.held[:i], m.held[i+1:]...)
				break
			}
		}
		m.Set.WakeLocked()
	}
}

// electable reports whether the member may be elected now.
func (m *Member) electable() bool {
	return m.Config.Electable() && !m.Stale && !time.Now().Before(m.Frozen)
}

package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Settings are what a set is made with.
type Settings struct {
	Version         version.Version
	Standalone      bool
	Seed            int64             // of what is random
	ElectionTimeout time.Duration     // until a configuration says otherwise
	Modes           setconfig.Modes   // of write concerns, likewise
	Replication     time.Duration     // how long after a write the secondaries fetch it
	OplogBytes      int64             // that a member's log keeps
	StartParameters map[string]string // as texts, which have been checked

	// TransactionEndedLocked is called when a transaction was committed or aborted.
	TransactionEndedLocked func(*Transaction)
}

// NewParameters are those that a server begins with.
func (s *Settings) NewParameters() parameter.Parameters {
	return parameter.New(s.Version, s.StartParameters)
}

// Set is a replica set, or a standalone, which is one with a single member. It knows no clients and no commands: those who do hold its mutex
// while they read or write what it has.
type Set struct {
	Settings
	Done chan struct{} // closed when the set is

	Clock             atomic.Uint64 // the newest timestamp of an oplog entry
	ClientClusterTime atomic.Uint64 // the newest cluster time that only clients know of

	mu         sync.Mutex // guards what follows and the members, to which replSetInitiate may add; never held across a wait
	Closed     bool
	Members    []*Member
	cut        [][]bool // from which member to which nothing passes
	waiters    []*Waiter
	Initiation Initiation
	Expiration Expiration

	// The configuration, beside the members' own, and what follows from it.
	ConfigVersion     int64
	Votes             int
	VoteMajority      int
	WriteMajority     int  // of the members that vote and have data
	MajorityByDefault bool // of writes that do not say how many members must have them
}

// Lock takes the mutex, which guards the set, its members, and what the layers above keep for them. It is never held across a wait.
func (rs *Set) Lock() { rs.mu.Lock() }

// Unlock gives the mutex up.
func (rs *Set) Unlock() { rs.mu.Unlock() }

// NewSet returns a set without members.
func NewSet(s Settings) *Set {
	return &Set{Settings: s, Done: make(chan struct{}), ConfigVersion: 1}
}

// AddLocked adds a member; there is no partition afterwards.
func (rs *Set) AddLocked(m *Member) {
	rs.Members = append(rs.Members, m)
	rs.cut = nil
	for range rs.Members {
		rs.cut = append(rs.cut, make([]bool, len(rs.Members)))
	}
}

// CloseLocked ends what the set does by itself, and reports whether it had not ended before.
func (rs *Set) CloseLocked() bool {
	if rs.Closed {
		return false
	}
	rs.Closed = true
	close(rs.Done)
	for _, m := range rs.Members {
		m.stopTimer()
	}
	if t := rs.Expiration.timer; t != nil {
		t.Stop()
	}
	return true
}

// ForemostLocked returns the member with the highest priority, the first one if there are several.
func (rs *Set) ForemostLocked() *Member {
	p := rs.Members[0]
	for _, m := range rs.Members {
		if m.Config.Electable() && (!p.Config.Electable() || m.Config.Priority > p.Config.Priority) {
			p = m
		}
	}
	return p
}

// BeginLocked elects the first primary, which writes first. All members get what it wrote at once.
func (rs *Set) BeginLocked(p *Member, first func()) {
	rs.Initiation = Initiated
	rs.configureLocked()
	p.standLocked()
	first()
	for _, m := range rs.Members {
		if m != p && m.Config.BearsData() {
			m.fetchLocked(p, p, p.Data.Log.Last())
		}
	}
	rs.reconsiderLocked()
}

// NewestPrimaryLocked returns the primary of the newest term, nil if there is none.
func (rs *Set) NewestPrimaryLocked() *Member {
	var found *Member
	for _, m := range rs.Members {
		if m.Up && m.Role == Primary && (found == nil || m.Term > found.Term) {
			found = m
		}
	}
	return found
}

// TermLocked returns the highest term that a member knows of.
func (rs *Set) TermLocked() int64 {
	term := int64(0)
	for _, m := range rs.Members {
		term = max(term, m.Term)
	}
	return term
}

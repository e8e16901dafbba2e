package replica

import (
	"iter"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// ReconfigureLocked makes every member know a configuration. A primary that could not be elected any more steps down.
func (rs *Set) ReconfigureLocked(version int64, timeout time.Duration, modes setconfig.Modes, members []setconfig.Member) {
	rs.ConfigVersion, rs.ElectionTimeout, rs.Modes = version, timeout, modes
	for i, m := range rs.Members {
		m.Config = members[i]
		m.stopTimer()
		if m.Role == Primary && !m.Config.Electable() {
			m.stepDownLocked()
		}
	}
	rs.configureLocked()
	for _, m := range rs.Members {
		m.commitLocked()
	}
	rs.reconsiderLocked()
}

// configureLocked counts what a changed configuration asks of votes and of writes.
func (rs *Set) configureLocked() {
	voters, arbiters := 0, rs.ArbitersLocked()
	for _, m := range rs.Members {
		if m.Config.Voter() {
			voters++
		}
	}
	rs.Votes, rs.VoteMajority = voters, voters/2+1
	rs.WriteMajority = min(rs.VoteMajority, voters-arbiters)
	// A majority is not the default where losing one member that has data would keep every write waiting.
	rs.MajorityByDefault = rs.Version.AtLeast(5, 0) && (arbiters == 0 || voters-arbiters > rs.VoteMajority)
}

// ArbitersLocked returns how many arbiters there are, all of which vote.
func (rs *Set) ArbitersLocked() int {
	n := 0
	for _, m := range rs.Members {
		if m.Config.Arbiter && !m.Config.Removed {
			n++
		}
	}
	return n
}

// BearersLocked are the members with data of which a condition is true.
func (rs *Set) BearersLocked(is func(*Member) bool) iter.Seq[*setconfig.Member] {
	return func(yield func(*setconfig.Member) bool) {
		for _, m := range rs.Members {
			if m.Config.BearsData() && is(m) && !yield(&m.Config) {
				return
			}
		}
	}
}

// EveryMember is true of each.
func EveryMember(*Member) bool { return true }

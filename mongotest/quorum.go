package mongotest

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// configureLocked counts what a changed configuration asks of votes and of writes.
func (rs *Deployment) configureLocked() {
	voters, arbiters := 0, rs.arbitersLocked()
	for _, m := range rs.members {
		if m.config.Voter() {
			voters++
		}
	}
	rs.votes, rs.voteMajority = voters, voters/2+1
	rs.writeMajority = min(rs.voteMajority, voters-arbiters)
	// A majority is not the default where losing one member that has data would keep every write waiting.
	rs.majorityByDefault = rs.config.version.AtLeast(5, 0) && (arbiters == 0 || voters-arbiters > rs.voteMajority)
}

// arbitersLocked returns how many arbiters there are, all of which vote.
func (rs *Deployment) arbitersLocked() int {
	n := 0
	for _, m := range rs.members {
		if m.config.Arbiter && !m.config.Removed {
			n++
		}
	}
	return n
}

// bearersLocked are the members with data of which a condition is true.
func (rs *Deployment) bearersLocked(is func(*member) bool) iter.Seq[*setconfig.Member] {
	return func(yield func(*setconfig.Member) bool) {
		for _, m := range rs.members {
			if m.config.BearsData() && is(m) && !yield(&m.config) {
				return
			}
		}
	}
}

func everyMember(*member) bool { return true }

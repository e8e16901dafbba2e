package mongotest

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

// bearersLocked returns how many members have data.
func (rs *Deployment) bearersLocked() int {
	n := 0
	for _, m := range rs.members {
		if m.config.BearsData() {
			n++
		}
	}
	return n
}

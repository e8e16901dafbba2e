package replica

// PartitionLocked lets nothing pass between members of different groups, which are given for each member.
func (rs *Set) PartitionLocked(group func(member int) int) {
	for i := range rs.Members {
		for j := range rs.Members {
			rs.cut[i][j] = group(i) != group(j)
		}
	}
	rs.reconsiderLocked()
}

// CutLocked loses the messages of one member to another.
func (rs *Set) CutLocked(from, to int) {
	rs.cut[from][to] = from != to
	rs.reconsiderLocked()
}

// IsolateLocked cuts a member off from the other members and from its clients.
func (m *Member) IsolateLocked() {
	m.Gate.Set(true)
	m.Set.reconsiderLocked()
}

// HealLocked ends every isolation and partition.
func (rs *Set) HealLocked() {
	for i, m := range rs.Members {
		m.Gate.Set(false)
		clear(rs.cut[i])
	}
	rs.reconsiderLocked()
}

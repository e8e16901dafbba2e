package replica

// Partition lets nothing pass between members of different groups, which are given for each member.
func (rs *Set) Partition(group func(member int) int) {
	rs.Lock()
	defer rs.Unlock()
	for i := range rs.Members {
		for j := range rs.Members {
			rs.cut[i][j] = group(i) != group(j)
		}
	}
	rs.reconsiderLocked()
}

// Cut loses the messages of one member to another.
func (rs *Set) Cut(from, to int) {
	rs.Lock()
	defer rs.Unlock()
	rs.cut[from][to] = from != to
	rs.reconsiderLocked()
}

// Isolate cuts a member off from the other members and from its clients.
func (m *Member) Isolate() {
	m.Set.Lock()
	defer m.Set.Unlock()
	m.Gate.Set(true)
	m.Set.reconsiderLocked()
}

// Heal ends every isolation and partition.
func (rs *Set) Heal() {
	rs.Lock()
	defer rs.Unlock()
	for i, m := range rs.Members {
		m.Gate.Set(false)
		clear(rs.cut[i])
	}
	rs.reconsiderLocked()
}

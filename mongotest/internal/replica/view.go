package replica

// view is what of a member's state its hello shows.
type view struct {
	role    Role
	primary int
	term    int64
	config  int64 // its version
}

// refreshViewLocked notes what the member's hello shows and tells those who wait for a change of it.
func (m *Member) refreshViewLocked() {
	now := view{role: m.Role, primary: -1, term: m.Term, config: m.Set.ConfigVersion}
	if p := m.PrimaryLocked(); p != nil {
		now.primary = p.Index
	}
	if now == m.view {
		return
	}
	m.view = now
	m.showLocked()
}

package topology

import "errors"

// Change is the change of one server between two topology descriptions. Old is nil if the server is new, New is nil
// if it was removed. An event is published only if the two are not Equal.
type Change struct {
	Old, New *Server
}

// CheckNow reports whether the server must be checked immediately: it was the primary, and a newer primary was found.
func (c Change) CheckNow() bool {
	return c.New != nil && errors.Is(c.New.Error, ErrNewerPrimary)
}

// Changes appends to dst one Change for each server that differs between old and next: first the changed and the
// removed servers, then the new ones.
func Changes(old, next *Description, dst []Change) []Change {
	for _, s := range old.Servers {
		if now := next.Server(s.Address); now != s {
			dst = append(dst, Change{Old: s, New: now})
		}
	}
	for _, s := range next.Servers {
		if old.index(s.Address) < 0 {
			dst = append(dst, Change{New: s})
		}
	}
	return dst
}

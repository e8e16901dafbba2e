package topology

import "errors"

// Change is what happened to one server from one description to the next: Old is nil if it is new, New is nil if it was
// removed. A change is an event only if the two are not Equal.
type Change struct {
	Old, New *Server
}

// CheckNow reports whether the server must be checked at once, because it was the primary and a newer one appeared.
func (c Change) CheckNow() bool {
	return c.New != nil && errors.Is(c.New.Error, ErrNewerPrimary)
}

// Changes appends to dst one Change for each server that old and next do not share: first those that were changed or
// removed, then the new ones.
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

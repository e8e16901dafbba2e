package topology

import (
	"errors"
	"slices"
)

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
	if SameAddresses(old, next) { // nearly every hello
		for i, s := range old.Servers {
			if next.Servers[i] != s {
				dst = append(dst, Change{Old: s, New: next.Servers[i]})
			}
		}
		return dst
	}
	now := searchServers(next.Servers)
	for _, s := range old.Servers {
		if i := now.find(s.Address); i < 0 {
			dst = append(dst, Change{Old: s})
		} else if next.Servers[i] != s {
			dst = append(dst, Change{Old: s, New: next.Servers[i]})
		}
	}
	before := searchServers(old.Servers)
	for _, s := range next.Servers {
		if !before.has(s.Address) {
			dst = append(dst, Change{New: s})
		}
	}
	return dst
}

// SameAddresses reports whether two descriptions have the same servers in the same order.
func SameAddresses(a, b *Description) bool {
	return slices.EqualFunc(a.Servers, b.Servers, func(s, other *Server) bool { return s == other || s.Address == other.Address })
}

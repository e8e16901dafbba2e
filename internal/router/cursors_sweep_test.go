package router

import (
	"testing"
	"time"
)

// Cursors that nobody used for a long time are forgotten when another one opens, not those in use.
func TestOldCursorsAreForgotten(t *testing.T) {
	c := cursors{recent[int64, place]{most: mostCursors, life: cursorLife}}
	began := time.Unix(1, 0)
	c.put(1, place{address: "a:1"}, began)
	c.put(2, place{address: "a:1"}, began)
	c.used(2, 0, began.Add(cursorLife))
	c.used(9, 0, began) // it is not known, and stays so
	c.put(3, place{address: "a:1"}, began.Add(cursorLife+time.Second))
	for id, member := range map[int64]string{1: "", 2: "a:1", 3: "a:1", 9: ""} {
		if got := c.member(id); got != member {
			t.Errorf("cursor %d is at %q, want %q", id, got, member)
		}
	}
}

// routerWith returns a router that knows some cursors.
func routerWith(places map[int64]place) *Router {
	r := new(Router)
	r.cursors.most, r.cursors.life = mostCursors, cursorLife
	for id, p := range places {
		r.cursors.put(id, p, time.Now())
	}
	return r
}

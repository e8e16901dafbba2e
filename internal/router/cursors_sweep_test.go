package router

import (
	"testing"
	"time"
)

// Cursors that nobody used for a long time are forgotten when another one opens, not those in use.
func TestOldCursorsAreForgotten(t *testing.T) {
	c := cursors{recent[int64, place]{most: mostCursors, life: cursorLife}}
	now := time.Unix(1, 0)
	c.put(1, place{address: "a:1"}, now)
	c.put(2, place{address: "a:1"}, now)
	for id := range int64(2) {
		now = now.Add(cursorLife + time.Second)
		c.used(2, 0, now)
		c.used(9, 0, now) // it is not known, and stays so
		c.put(10+id, place{address: "a:1"}, now)
	}
	for id, member := range map[int64]string{1: "", 2: "a:1", 9: "", 10: "a:1", 11: "a:1"} {
		if got := c.member(id); got != member {
			t.Errorf("cursor %d is at %q, want %q", id, got, member)
		}
	}
}

// A connection that lives for months may open cursors which nobody closes.
func TestACursorThatNobodyClosesIsForgotten(t *testing.T) {
	d := departure{balanced: true}
	for id := range int64(3 * mostOpen) {
		if d.opened(id); !d.holds() || len(d.cursors) > mostOpen {
			t.Fatalf("after %d cursors %d are noted", id+1, len(d.cursors))
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

package router

import (
	"testing"
	"time"
)

// Cursors that nobody used for a long time are forgotten when another one opens, not those in use.
func TestOldCursorsAreForgotten(t *testing.T) {
	c := cursors{places: make(map[int64]place)}
	began := time.Unix(1, 0)
	c.opened(1, place{address: "a:1", stream: false, used: began})
	c.opened(2, place{address: "a:1", stream: false, used: began})
	c.used(2, 0, began.Add(cursorLife))
	c.used(9, 0, began) // it is not known, and stays so
	c.opened(3, place{address: "a:1", stream: false, used: began.Add(cursorLife + time.Second)})
	for id, member := range map[int64]string{1: "", 2: "a:1", 3: "a:1", 9: ""} {
		if got := c.member(id); got != member {
			t.Errorf("cursor %d is at %q, want %q", id, got, member)
		}
	}
}

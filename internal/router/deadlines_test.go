package router

import (
	"net"
	"testing"
	"time"
)

// deadlines counts how often a deadline was set.
type deadlines struct {
	net.Conn
	set int
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set++
	return d.Conn.SetReadDeadline(at)
}

// To set a deadline for each message costs as much as some messages do.
func TestOnlyStrangersHaveDeadlines(t *testing.T) {
	here, _ := net.Pipe()
	c := newClient(isolatedRouter(t), here, 1)
	d := &deadlines{Conn: c.conn}
	c.conn = d
	for i, want := range []int{1, 2, 3, 3, 3} { // the third one takes it away
		if i == 2 {
			c.account = new(account)
		}
		if c.limitSilence(); d.set != want {
			t.Errorf("before message %d a deadline was set %d times, want %d", i, d.set, want)
		}
	}
}

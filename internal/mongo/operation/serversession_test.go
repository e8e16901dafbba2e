package operation

import (
	"bytes"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Source: Driver Sessions, "Server Session Pool".
func TestTheSessionPool(t *testing.T) {
	const timeout = 30 * time.Minute
	now := time.Now()
	var p SessionPool
	a, b := p.get(now, timeout), p.get(now, timeout)
	if bytes.Equal(a.id, b.id) {
		t.Fatal("two sessions have the same id")
	}
	a.nextTxnNumber()
	p.put(b, now)
	p.put(a, now)
	if got := p.get(now, timeout); got != a || got.nextTxnNumber() != 2 {
		t.Error("the most recently used session is not reused, or lost its transaction number")
	}
	if got := p.get(now.Add(timeout-time.Second), timeout); got == b {
		t.Error("a session that is about to expire is reused")
	}
	a.dirty = true
	p.put(a, now)
	if got := p.get(now, timeout); got == a {
		t.Error("a dirty session is reused")
	}
	c, unused := p.get(now, timeout), p.get(now, timeout)
	c.used = true // a server knows no other
	p.put(c, now)
	p.put(unused, now)
	if ids := p.drain(); len(ids) != 1 || !bytes.Equal(ids[0], c.id) || len(p.drain()) != 0 {
		t.Errorf("drained %d sessions", len(ids))
	}
}

// Source: Driver Sessions, "Algorithm to return a ServerSession instance to the server session pool".
func TestWhichSessionsThePoolDiscardsWhenOneComesBack(t *testing.T) {
	const timeout = 30 * time.Minute
	const soon = timeout - time.Minute // a session that was used so long ago does not expire soon
	start := time.Now()
	for _, c := range []struct {
		name    string
		timeout time.Duration
		used    []time.Duration // the ages of the pooled sessions, the oldest first, and of the one that comes back
		kept    int
	}{
		{"sessions that do not expire soon stay", timeout, []time.Duration{soon, soon, 0}, 3},
		{"those at the back that expire soon go", timeout, []time.Duration{soon + 1, soon + 1, soon, 0}, 2},
		{"it stops at the first one that does not expire soon", timeout, []time.Duration{soon + 1, soon, soon + 1, 0}, 3},
		{"the one that comes back goes if it expires soon", timeout, []time.Duration{soon, soon + 1}, 1},
		{"all of them expire soon", timeout, []time.Duration{soon + 2, soon + 2, soon + 1}, 0},
		{"behind a load balancer none expires", neverExpires, []time.Duration{100 * timeout, 100 * timeout, timeout}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p SessionPool
			sessions := make([]*ServerSession, len(c.used))
			for i := range sessions {
				sessions[i] = p.get(start, c.timeout)
				sessions[i].used = true
			}
			for _, s := range sessions[:len(sessions)-1] {
				p.put(s, start)
			}
			now := start.Add(1000 * timeout)
			for i, age := range c.used {
				sessions[i].lastUsed = now.Add(-age)
			}
			p.put(sessions[len(sessions)-1], now)
			if n := len(p.drain()); n != c.kept || p.inUse != 0 {
				t.Errorf("%d sessions stayed, want %d; %d are in use", n, c.kept, p.inUse)
			}
		})
	}
}

func TestASessionIDIsARandomVersion4UUID(t *testing.T) {
	s := newServerSession()
	it := wire.Elements(s.id)
	if !it.Next() || string(it.Key) != "id" || it.Value[4] != 4 {
		t.Fatalf("the lsid is %x", s.id)
	}
	uuid := it.Value[5:]
	if len(uuid) != 16 || uuid[6]>>4 != 4 || uuid[8]>>6 != 2 {
		t.Errorf("%x is not a version 4 UUID", uuid)
	}
	if n := s.nextTxnNumber(); n != 1 {
		t.Errorf("the first transaction number is %d", n)
	}
}

func TestEveryOtherBitOfASessionIDIsRandom(t *testing.T) {
	var once, always [16]byte // bits that were set, and those that were never clear
	for i := range always {
		always[i] = 0xff
	}
	for range 200 {
		for i, b := range newServerSession().id[4+1+3+4+1:][:16] {
			once[i] |= b
			always[i] &= b
		}
	}
	for i := range once {
		set, fixed := byte(0xff), byte(0)
		switch i {
		case 6:
			set, fixed = 0x4f, 0x40
		case 8:
			set, fixed = 0xbf, 0x80
		}
		if once[i] != set || always[i] != fixed {
			t.Errorf("byte %d: bits %08b were set and %08b never clear; want %08b and %08b", i, once[i], always[i], set, fixed)
		}
	}
}

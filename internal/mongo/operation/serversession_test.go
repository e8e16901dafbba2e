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
	p.put(b)
	p.put(a)
	if got := p.get(now, timeout); got != a || got.nextTxnNumber() != 2 {
		t.Error("the most recently used session is not reused, or lost its transaction number")
	}
	if got := p.get(now.Add(timeout-time.Second), timeout); got == b {
		t.Error("a session that is about to expire is reused")
	}
	a.dirty = true
	p.put(a)
	if got := p.get(now, timeout); got == a {
		t.Error("a dirty session is reused")
	}
	c := p.get(now, timeout)
	p.put(c)
	if ids := p.drain(); len(ids) != 1 || !bytes.Equal(ids[0], c.id) || len(p.drain()) != 0 {
		t.Errorf("drained %d sessions", len(ids))
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

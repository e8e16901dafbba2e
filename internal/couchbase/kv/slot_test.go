package kv

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// Every slot whose reply is owed stays reserved, as long as there are others. When there are none, the one that waits for the longest time is
// used again, with another generation.
func TestASlotWhoseReplyIsOwed(t *testing.T) {
	table := newSlots(10) // one chunk
	var left []*slot
	for range chunkSize {
		s := table.take()
		s.setState(stateWaiting)
		if !s.claim(s.generation()) || s.claim(s.generation()) {
			t.Fatal("a waiting slot is claimed once")
		}
		table.leave(s)
		left = append(left, s)
	}
	answered := left[3]
	table.answered(answered)
	if s := table.take(); s != answered || table.recycled {
		t.Errorf("slot %d is used again; want the one that was answered", s.index)
	}
	generation := left[0].generation()
	if s := table.take(); s != left[0] || !table.recycled || s.generation() == generation {
		t.Errorf("slot %d of generation %d is used again; want slot 0 with another generation than %d", s.index, s.generation(), generation)
	}
	if s := table.take(); s != left[1] {
		t.Errorf("slot %d is used again; want slot 1", s.index)
	}
}

// The reply comes while the caller is about to leave: its slot is free at once, and a second reply is one too many.
func TestAReplyThatComesWhileItsCallerLeaves(t *testing.T) {
	client, _ := memnet.Pipe()
	c := newConn(&Config{}, nodeAddress, 1, client, client)
	defer c.Close(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := get("late")
	s, err := c.queueLocked(&r, new(Reply), 0, r.Value)
	if err != nil {
		t.Fatal(err)
	}
	c.handed, c.out = s.end, nil // it was written
	c.failLocked(s, ErrDeadline)
	if !c.settleLocked(s, s.generation(), new(Orphan)) {
		t.Error("the reply is no orphan")
	}
	if c.settleLocked(s, s.generation(), new(Orphan)) {
		t.Error("a second reply is an orphan too")
	}
	if failed := c.awaitLocked(s, &r); failed == nil || failed.Stage != retry.StageInFlight || s.state() != stateFree {
		t.Errorf("error %v, the slot is in the state %d", failed, s.state())
	}
}

// A slot whose late reply has come is like any other: its next request owes nothing, and gives it back at its end.
func TestASlotIsFreeAfterItsNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		c := s.connect(t, nil)
		late := get("late")
		late.Deadline = soon(time.Millisecond)
		begin(c, late).wantError(t, retry.StageInFlight, ErrDeadline)
		s.release()
		pass(time.Second) // the late reply is read
		next := begin(c, get("next"))
		s.release()
		next.wantReply(t, "next")
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.slots.free) != c.slots.used || c.slots.left.first != nil {
			t.Errorf("%d of %d slots are free", len(c.slots.free), c.slots.used)
		}
	})
}

func TestTheSlotsAreBounded(t *testing.T) {
	for maxQueue, want := range map[int]int{1: 64, 2048: 8192, 20_000: 65536, MostMaxQueue: 65536} {
		table := newSlots(maxQueue)
		for table.grow() {
		}
		if table.used != want || table.find(uint16(want-1)) == nil || want < 1<<16 && table.find(uint16(want)) != nil {
			t.Errorf("a queue of %d has %d slots; want %d", maxQueue, table.used, want)
		}
		for i := range want {
			if s := table.find(uint16(i)); int(s.index) != i {
				t.Fatalf("slot %d has the index %d", i, s.index)
			}
		}
	}
}

// A black hole: so many callers leave that their slots are used again. The late replies reach nobody, and the connection stays.
func TestManyOwedReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		cfg := s.start(t)
		cfg.MaxQueue = 1 // 64 slots
		orphans, known := 0, 0
		cfg.OnOrphan = func(o Orphan) {
			if orphans++; !o.Started.IsZero() {
				known++
			}
		}
		c := s.connect(t, cfg)
		const leavers = 3 * chunkSize
		for range leavers {
			r := Request{Opcode: memd.OpGet, Value: []byte("late"), Started: time.Now(), Deadline: soon(time.Millisecond)}
			begin(c, r).wantError(t, retry.StageInFlight, ErrDeadline)
		}
		stays := begin(c, get("stays"))
		s.release()
		stays.wantReply(t, "stays")
		synctest.Wait()
		if orphans != leavers || known != chunkSize-1 || c.Err() != nil {
			t.Errorf("%d orphans, of %d the request is known; want %d, %d; the connection has the error %v", orphans, known, leavers, chunkSize-1, c.Err())
		}
	})
}

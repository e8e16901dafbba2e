package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// world is an active copy and its replica, with a clock.
type world struct {
	active, replica *store.VBucket
	now             time.Time
	waiting         []*store.Prepare
	saved           map[uint64]string // what the active copy had at each sequence number
}

func newWorld() *world {
	w := &world{
		active: &store.VBucket{State: store.Active, UUID: 1}, replica: &store.VBucket{State: store.Replica, UUID: 1},
		now: time.Unix(1e9, 0), saved: map[uint64]string{0: ""},
	}
	return w
}

// contents describes what a copy shows to readers.
func contents(v *store.VBucket, now time.Time) string {
	list := map[string]string{}
	v.Each(now, func(k store.Key, d *store.Document) bool {
		list[k.Name] = fmt.Sprintf("%s at %d", d.Value, d.Seqno)
		return true
	})
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprint(list)
}

func key(t *rapid.T) store.Key {
	return store.Key{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")}
}

func (w *world) document(t *rapid.T) *store.Document {
	cas, _ := w.active.Next(w.now)
	return &store.Document{Value: []byte(rapid.StringMatching("[0-9]").Draw(t, "value")), CAS: cas}
}

// step does one random thing.
func (w *world) step(t *rapid.T) {
	w.now = w.now.Add(time.Second)
	k := key(t)
	old, status := w.active.Writable(k, 0, w.now)
	switch rapid.IntRange(0, 7).Draw(t, "step") {
	case 0, 1:
		if status == memd.StatusSuccess {
			w.active.Put(k, w.document(t), w.now)
		}
	case 2:
		if status == memd.StatusSuccess && old != nil {
			d := old.Tombstone()
			d.CAS, _ = w.active.Next(w.now)
			w.active.Put(k, d, w.now)
		}
	case 3:
		if status == memd.StatusSuccess {
			w.waiting = append(w.waiting, w.active.Prepare(k, w.document(t), memd.DurabilityMajority, w.now))
		}
	case 4, 5:
		w.settle(rapid.Bool().Draw(t, "commit"))
	case 6:
		w.replica.CatchUp(w.active, w.now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "lag"))*time.Second))
		w.active.Forget(w.replica.High)
	case 7:
		w.active.Save(w.now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "lag")) * time.Second))
	}
	w.saved[w.active.High] = contents(w.active, w.now)
}

// settle ends the oldest durable write.
func (w *world) settle(commit bool) {
	if len(w.waiting) == 0 {
		return
	}
	p := w.waiting[0]
	w.waiting = w.waiting[1:]
	if !w.active.Prepared(p) {
		return
	}
	if commit {
		w.active.Commit(p, w.now)
	} else {
		w.active.Abort(p, w.now)
	}
}

func TestAReplicaIsAlwaysAPastOfTheActiveCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step(t)
			if got, want := contents(w.replica, w.now), w.saved[w.replica.High]; got != want {
				t.Fatalf("the replica at %d has %s, want %s", w.replica.High, got, want)
			}
		}
		w.replica.CatchUp(w.active, w.now)
		if got, want := contents(w.replica, w.now), contents(w.active, w.now); got != want || w.replica.High != w.active.High {
			t.Fatalf("the replica at %d has %s, want %s at %d", w.replica.High, got, want, w.active.High)
		}
	})
}

func TestACrashLosesWhatWasNotOnDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step(t)
		}
		persisted, high := w.active.Persisted(), w.active.High
		if lost := w.active.Crash(false); lost != (persisted < high) {
			t.Fatalf("the crash says that it lost something: %t; the disk has %d of %d", lost, persisted, high)
		}
		if got, want := contents(w.active, w.now), w.saved[persisted]; got != want || w.active.High != persisted {
			t.Fatalf("after the crash at %d is %s, want %s at %d", w.active.High, got, want, persisted)
		}
		w.active.Renew(99)
		w.replica.CatchUp(w.active, w.now)
		if got, want := contents(w.replica, w.now), contents(w.active, w.now); got != want {
			t.Fatalf("the replica has %s after the crash of the active copy, want %s", got, want)
		}
	})
}

func TestAPromotedReplicaKnowsTheEndOfItsHistory(t *testing.T) {
	w := newWorld()
	k := store.Key{Name: "k"}
	cas, _ := w.active.Next(w.now)
	w.active.Put(k, &store.Document{Value: []byte("1"), CAS: cas}, w.now)
	p := w.active.Prepare(store.Key{Name: "p"}, &store.Document{Value: []byte("2"), CAS: cas + 1}, memd.DurabilityMajority, w.now)
	w.replica.CatchUp(w.active, w.now)
	w.replica.Promote(2)
	if end, ok := w.replica.EpochAt(1); !ok || end.Seqno != 2 || w.replica.UUID != 2 || w.replica.State != store.Active {
		t.Errorf("the history ended at %+v, %t", end, ok)
	}
	if w.replica.Prepared(p) || w.replica.Readable(p.Key) {
		t.Error("what the failed node had prepared can be read before it is committed again")
	}
	if _, status := w.replica.Writable(p.Key, 0, w.now); status != memd.StatusSyncWriteReCommit {
		t.Errorf("a write is answered with %v", status)
	}
}

func TestADeletedDocumentKeepsItsSystemAttributes(t *testing.T) {
	d := &store.Document{Value: []byte("1"), Xattrs: []byte(`{"mine":1,"_sync":{"a":2},"_x":3}`), CAS: 5}
	left := d.Tombstone()
	if !left.Deleted || left.Value != nil || !bytes.Equal(left.Xattrs, []byte(`{"_sync":{"a":2},"_x":3}`)) {
		t.Errorf("what is left is %+v with %s", left, left.Xattrs)
	}
	if d.Deleted || d.Value == nil {
		t.Error("the document has changed")
	}
}

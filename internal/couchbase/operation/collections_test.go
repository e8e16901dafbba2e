package operation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// manifest is a script of nodes with one collection, "scope.named".
type manifest struct {
	mu      sync.Mutex
	uid     uint64
	id      uint32 // 0: there is no collection
	unknown memd.Status
	lookups int
	// stale answers a document command with that many refusals, of this uid.
	stale    int
	staleUID uint64
	prefixes []string
}

func (m *manifest) answer(_ string, _ int, r memd.Packet) (answer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Opcode == memd.OpCollectionID {
		m.lookups++
		if m.id == 0 || string(r.Value) != "scope.named" {
			return answer{Status: m.unknown, Value: fmt.Appendf(nil, `{"manifest_uid":"%x"}`, m.uid)}, true
		}
		return answer{Extras: memd.AppendCollection(nil, memd.CollectionID{ManifestUID: m.uid, ID: m.id})}, true
	}
	id, _, err := memd.CutCollectionID(r.Key)
	m.prefixes = append(m.prefixes, fmt.Sprint(id, err))
	if m.stale > 0 {
		m.stale--
		return answer{Status: memd.StatusUnknownCollection, Value: fmt.Appendf(nil, `{"manifest_uid":"%x"}`, m.staleUID)}, true
	}
	if id != m.id {
		return answer{Status: memd.StatusUnknownCollection, Value: fmt.Appendf(nil, `{"manifest_uid":"%x"}`, m.uid)}, true
	}
	return answer{}, true
}

// slowly is answer, after so long that all callers have asked meanwhile; node b takes longer.
func (m *manifest) slowly(host string, n int, r memd.Packet) (answer, bool) {
	if host == "b" {
		<-time.After(4 * ms)
	}
	<-time.After(ms)
	return m.answer(host, n, r)
}

func (w *world) named(q *operation.Operation) *operation.Operation {
	q.Collection = w.bucket.Collection("scope", "named")
	return q
}

func TestTheIDOfACollectionIsLookedUpOnceForAll(t *testing.T) {
	m := &manifest{uid: 5, id: 555}
	inWorld(t, m.slowly, func(w *world) {
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				var r operation.Result
				if err := w.runner.Run(context.Background(), time.Second, w.named(w.get(keyOf0)), &r); err != nil || r.CollectionID != 555 {
					t.Errorf("%v, id %d", err, r.CollectionID)
				}
			})
		}
		callers.Wait()
		if m.lookups != 1 || len(w.log.all()) != 0 {
			t.Errorf("%d look-ups, decisions %q", m.lookups, w.log.all())
		}
	})
}

func TestAnOutdatedCollection(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(m *manifest)
		lookups  int // after the change
		requests string
	}{
		{"the collection was created anew: the id is looked up, and its coming ends the wait", func(m *manifest) { m.uid, m.id = 6, 777 }, 1, "0s@a 0s@a 0s@a"},
		{"our version is higher than the node's: the node is behind, and gets the same id again", func(m *manifest) { m.stale, m.staleUID = 2, 4 }, 0, "0s@a 1ms@a 11ms@a"},
		{"the versions are equal: the id is looked up again; it is the same one, so its coming does not end the wait", func(m *manifest) { m.stale, m.staleUID = 1, 5 }, 1, "0s@a 0s@a 1ms@a"},
		{"the same id in newer collections ends the wait", func(m *manifest) { m.uid, m.stale, m.staleUID = 6, 1, 5 }, 1, "0s@a 0s@a 0s@a"},
		{"the scope is unknown: the same", func(m *manifest) { m.uid, m.id, m.unknown = 6, 777, memd.StatusUnknownScope }, 1, "0s@a 0s@a 0s@a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &manifest{uid: 5, id: 555, unknown: memd.StatusUnknownCollection}
			inWorld(t, m.answer, func(w *world) {
				if _, err := w.do(w.named(w.get(keyOf0))); err != nil {
					t.Fatal(err)
				}
				m.lookups = 0
				c.change(m)
				w.ClearLog()
				if _, err := w.do(w.named(w.increment(keyOf0))); err != nil {
					t.Fatal(err)
				}
				if m.lookups != c.lookups {
					t.Errorf("%d look-ups", m.lookups)
				}
				equal(t, "requests", w.where(), c.requests)
				for _, line := range w.log.all() {
					if !strings.Contains(line, "KV_COLLECTION_OUTDATED retried") {
						t.Error(line)
					}
				}
			})
		})
	}
}

func TestACollectionThatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		status memd.Status
		kind   error
	}{{memd.StatusUnknownCollection, operation.ErrCollectionNotFound}, {memd.StatusUnknownScope, operation.ErrScopeNotFound}} {
		t.Run(c.status.String(), func(t *testing.T) {
			m := &manifest{uid: 5, unknown: c.status}
			inWorld(t, m.answer, func(w *world) {
				_, err := w.within(context.Background(), 100*ms, w.named(w.increment(keyOf0)))
				if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, c.kind) {
					t.Errorf("it is waited for, and is the timeout's cause: %v", err)
				}
				equal(t, "requests", w.where(), "0s@a 1ms@a 11ms@a 61ms@a")
				m.mu.Lock()
				m.id = 555
				m.mu.Unlock()
				if _, err := w.do(w.named(w.increment(keyOf0))); err != nil {
					t.Error(err)
				}
			}, strategy(declining()))
		})
	}
}

func TestAServerWithoutCollections(t *testing.T) {
	without := func(w *world, _ *cluster.Config, _ *operation.Config) {
		for _, n := range w.nodes {
			n.Change(func() { n.Accept = []memd.Feature{memd.FeatureXerror, memd.FeatureSelectBucket} })
		}
	}
	inWorld(t, nil, func(w *world) {
		if _, err := w.do(w.named(w.get(keyOf0))); !errors.Is(err, operation.ErrFeatureNotAvailable) {
			t.Error(err)
		}
		if _, err := w.do(w.get(keyOf0)); err != nil {
			t.Error(err)
		}
		if log := w.Log(); len(log) != 1 || string(log[0].Request.Key) != string(keyOf0) {
			t.Errorf("the key has no id: %q", log[0].Request.Key)
		}
	}, without)
}

// RFC 0049: reasons that are always retried have a growing delay, so that they cannot flood the cluster.
func TestARefusalOfAnIDThatTheNodeItselfNamesCostsFewRequests(t *testing.T) {
	m := &manifest{uid: 5, id: 555, stale: 500, staleUID: 5}
	inWorld(t, m.answer, func(w *world) {
		_, err := w.within(context.Background(), 300*ms, w.named(w.increment(keyOf0)))
		if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, operation.ErrCollectionNotFound) {
			t.Errorf("%v", err)
		}
		equal(t, "requests", w.where(), "0s@a 0s@a 0s@a 1ms@a 1ms@a 11ms@a 11ms@a 61ms@a 61ms@a 161ms@a 161ms@a")
	})
}

// The answer to a look-up comes after the map of a bucket that was made again: it is the id of a collection that is not there any more.
func TestAnIDOfABucketThatIsNotThereAnyMore(t *testing.T) {
	m := &manifest{uid: 5, id: 555}
	inWorld(t, func(host string, n int, r memd.Packet) (answer, bool) {
		a, ok := m.answer(host, n, r)
		if n == 0 {
			<-time.After(5 * ms)
		}
		return a, ok
	}, func(w *world) {
		time.AfterFunc(2*ms, func() {
			again := newest(2)
			again.UUID = "of the new bucket"
			w.SetMap(again)
			w.nodes["b"].Push(true)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.uid, m.id = 1, 8
		})
		r, err := w.do(w.named(w.increment(keyOf0)))
		if err != nil || r.CollectionID != 8 {
			t.Errorf("%v, id %d", err, r.CollectionID)
		}
		equal(t, "ids of the requests", m.prefixes, []string{"8 <nil>"})
		if m.lookups != 2 {
			t.Errorf("%d look-ups", m.lookups)
		}
	})
}

func TestALookUpThatTheServerDoesNotKnow(t *testing.T) {
	inWorld(t, status(memd.StatusUnknownCommand, always), func(w *world) {
		_, err := w.do(w.named(w.increment(keyOf0)))
		if !errors.Is(err, operation.ErrFeatureNotAvailable) || errors.Is(err, operation.ErrTimeout) || err.Ambiguous || len(w.Log()) != 1 {
			t.Errorf("%v, requests %v", err, w.requests())
		}
	})
}

// The default collection can be removed. Its id is always 0, so there is nothing to look up.
func TestADefaultCollectionThatWasRemoved(t *testing.T) {
	for _, nameless := range []bool{true, false} {
		inWorld(t, func(string, int, memd.Packet) (answer, bool) {
			return answer{Status: memd.StatusUnknownCollection, Value: []byte(`{"manifest_uid":"7"}`)}, true
		}, func(w *world) {
			q := w.increment(keyOf0)
			if nameless {
				q.Collection, q.Bucket = nil, w.bucket
			}
			_, err := w.within(context.Background(), 100*ms, q)
			if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, operation.ErrCollectionNotFound) {
				t.Errorf("%v", err)
			}
			equal(t, "requests", w.where(), "0s@a 1ms@a 11ms@a 61ms@a")
		})
	}
}

// All operations that meet an outdated id share one look-up, also those whose refusal comes after it.
func TestManyCallersThatMeetAnOutdatedCollectionLookItUpOnce(t *testing.T) {
	m := &manifest{uid: 5, id: 555}
	inWorld(t, m.slowly, func(w *world) {
		if _, err := w.do(w.named(w.get(keyOf0))); err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		m.uid, m.id, m.lookups = 6, 777, 0
		m.mu.Unlock()
		var callers sync.WaitGroup
		for i := range 64 {
			callers.Go(func() {
				key := keyOf0
				if i%2 == 1 {
					key = keyOf1 // on the other node
				}
				var r operation.Result
				if err := w.runner.Run(context.Background(), time.Second, w.named(w.get(key)), &r); err != nil || r.CollectionID != 777 {
					t.Errorf("%v, id %d", err, r.CollectionID)
				}
			})
		}
		callers.Wait()
		if m.lookups != 1 {
			t.Errorf("%d look-ups", m.lookups)
		}
	})
}

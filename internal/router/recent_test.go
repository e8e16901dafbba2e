package router

import (
	"testing"
	"time"
)

// What was not used for its life is forgotten when something else is remembered, at the latest after twice its life.
func TestWhatIsOldIsForgotten(t *testing.T) {
	const life = time.Hour
	r := recent[int, string]{most: 100, life: life}
	began := time.Unix(1, 0)
	for key, step := range []struct {
		at    time.Duration
		known int // the smallest key that is known
	}{{0, 0}, {life, 0}, {life + 1, 0}, {2*life + 1, 0}, {2*life + 2, 2}, {9 * life, 4}} {
		r.put(key, "", began.Add(step.at))
		for k := range key + 1 {
			if _, known := r.get(k); known != (k >= step.known) {
				t.Errorf("after %v: %d is known: %t", step.at, k, known)
			}
		}
	}
	for k := range 6 {
		r.drop(k) // in both generations
	}
	if n := r.len(); n != 0 {
		t.Errorf("%d are known after they were dropped", n)
	}
}

// len returns how many are known.
func (r *recent[K, V]) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.young)
	for key := range r.old {
		if _, again := r.young[key]; !again {
			n++
		}
	}
	return n
}

// When there are too many, those in use stay: a statement of a transaction that goes to another mongos fails.
func TestTooManyAreForgottenButNotThoseInUse(t *testing.T) {
	const most = 100
	r := recent[int, string]{most: most, life: transactionLife}
	now := time.Unix(1, 0)
	for n := range 10 * most {
		r.put(n, "mongos", now)
		if n%(most/4) == 0 {
			r.put(0, "mongos", now)
		}
		if kept := len(r.young) + len(r.old); kept > most {
			t.Fatalf("%d are kept, want at most %d", kept, most)
		}
		for _, key := range []int{0, max(0, n-most/4)} {
			if _, known := r.get(key); !known {
				t.Fatalf("after %d, the one of number %d is forgotten", n, key)
			}
		}
	}
	if _, known := r.get(1); known {
		t.Error("one of which there are too many is still known")
	}
}

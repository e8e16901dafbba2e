package router

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// known fails unless these are the keys that are remembered.
func (r *recent[K, V]) known(t *testing.T, when string, want ...K) {
	t.Helper()
	for _, key := range want {
		if _, known := r.get(key); !known || len(r.values) != len(want) {
			t.Errorf("%s: %v are remembered, want %v", when, slices.Collect(maps.Keys(r.values)), want)
		}
	}
}

// What was not used for longer than its life is forgotten, not more often than once a minute.
func TestWhatIsOldIsForgotten(t *testing.T) {
	r := recent[int, string]{most: 10, life: time.Hour}
	began := time.Unix(1, 0)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	r.put(1, "", at(0))
	r.put(2, "", at(r.life))
	r.known(t, "after its life", 1, 2)
	r.put(3, "", at(r.life+30*time.Second))
	r.known(t, "half a minute later", 1, 2, 3)
	r.put(4, "", at(r.life+61*time.Second))
	r.known(t, "a minute later", 2, 3, 4)
	r.put(5, "", at(2*r.life+30*time.Second))
	r.known(t, "after a second life", 3, 4, 5)
}

// If there are too many, all are forgotten, of whatever age: a cache may do that.
func TestTooManyAreForgotten(t *testing.T) {
	r := recent[int, string]{most: 3, life: time.Hour}
	now := time.Unix(1, 0)
	for key := range 3 {
		r.put(key, "", now)
	}
	r.known(t, "at the limit", 0, 1, 2)
	r.put(3, "", now)
	r.known(t, "above it", 3)
}

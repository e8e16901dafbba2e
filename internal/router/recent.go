package router

import (
	"sync"
	"time"
)

// recent remembers values for life after they were used last, and at most twice as long; and so many at most. It is safe for concurrent use.
//
// It has two generations. When the young one is full, or as old as life, the old one is forgotten, and the young one becomes the old one. A value that is used
// goes to the young one: so those in use stay, and nothing takes long while the lock is held.
type recent[K comparable, V any] struct {
	most int
	life time.Duration

	mu         sync.Mutex
	young, old map[K]V
	began      time.Time // of the young one
}

func (r *recent[K, V]) get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.getLocked(key)
}

func (r *recent[K, V]) getLocked(key K) (V, bool) {
	if v, known := r.young[key]; known {
		return v, true
	}
	v, known := r.old[key]
	return v, known
}

func (r *recent[K, V]) put(key K, value V, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putLocked(key, value, now)
}

// use changes a value that is used, if it is known.
func (r *recent[K, V]) use(key K, now time.Time, change func(V) V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, known := r.getLocked(key); known {
		r.putLocked(key, change(v), now)
	}
}

func (r *recent[K, V]) putLocked(key K, value V, now time.Time) {
	if len(r.young) >= r.most/2 || now.Sub(r.began) > r.life {
		r.old, r.young, r.began = r.young, nil, now
	}
	if r.young == nil {
		r.young = make(map[K]V)
	}
	r.young[key] = value
}

func (r *recent[K, V]) drop(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, key)
	delete(r.old, key)
}

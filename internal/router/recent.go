package router

import (
	"sync"
	"time"
)

// recent remembers values for a time after they were used last, and so many at most. It is safe for concurrent use.
type recent[K comparable, V any] struct {
	most int
	life time.Duration

	mu     sync.Mutex
	values map[K]remembered[V]
	swept  time.Time
}

// sweepEvery is how often those are forgotten whose time is over.
const sweepEvery = time.Minute

type remembered[V any] struct {
	value V
	used  time.Time
}

func (r *recent[K, V]) get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, known := r.values[key]
	return v.value, known
}

func (r *recent[K, V]) put(key K, value V, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values == nil {
		r.values = make(map[K]remembered[V])
	}
	if len(r.values) >= r.most || now.Sub(r.swept) > sweepEvery {
		r.sweepLocked(now)
	}
	r.values[key] = remembered[V]{value, now}
}

func (r *recent[K, V]) drop(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.values, key)
}

// sweepLocked forgets what was not used for a long time; all if there is too much.
func (r *recent[K, V]) sweepLocked(now time.Time) {
	r.swept = now
	for key, v := range r.values {
		if now.Sub(v.used) > r.life {
			delete(r.values, key)
		}
	}
	if len(r.values) >= r.most {
		clear(r.values)
	}
}

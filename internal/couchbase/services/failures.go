package services

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// failedFor is how long a node that could not be reached is avoided while there are others.
const failedFor = time.Second

// failures remembers the nodes that could not be reached, or whose connection was lost.
type failures struct {
	mu   sync.Mutex
	when map[string]time.Time
}

func (f *failures) add(address string) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.when == nil {
		f.when = make(map[string]time.Time)
	}
	for a, t := range f.when {
		if now.Sub(t) >= failedFor {
			delete(f.when, a)
		}
	}
	f.when[address] = now
}

func (f *failures) remove(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.when, address)
}

// pick returns a random address of those that have not just failed; if all have, a random one of all.
func (f *failures) pick(addresses []string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.when) > 0 {
		now := time.Now()
		good := slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
			t, failed := f.when[a]
			return failed && now.Sub(t) < failedFor
		})
		if len(good) > 0 {
			addresses = good
		}
	}
	return addresses[rand.IntN(len(addresses))]
}

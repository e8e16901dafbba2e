package retry

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// keptEndpoints is the number of endpoints used most recently whose breakers are surely kept. At most twice as many are.
const keptEndpoints = 1000

// breakers holds a breaker for each endpoint. It has two generations, so that it forgets the endpoints that are no longer used:
// when the recent one is full it becomes the old one, and an endpoint of the old one that is used again becomes recent.
type breakers struct {
	options BreakerOptions
	recent  atomic.Pointer[map[string]*Breaker] // the map is never changed, only replaced

	mu  sync.Mutex
	old map[string]*Breaker
}

func newBreakers(o BreakerOptions) *breakers {
	b := &breakers{options: o}
	b.recent.Store(&map[string]*Breaker{})
	return b
}

// of returns the breaker of an endpoint.
func (b *breakers) of(endpoint string) *Breaker {
	if breaker, ok := (*b.recent.Load())[endpoint]; ok {
		return breaker
	}
	return b.add(endpoint)
}

// add makes an endpoint a recent one.
func (b *breakers) add(endpoint string) *Breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	recent := *b.recent.Load()
	if breaker, ok := recent[endpoint]; ok { // another caller was quicker
		return breaker
	}
	breaker, ok := b.old[endpoint]
	if !ok {
		breaker = newBreaker(b.options, new(atomic.Uint64), time.Now())
	}
	if len(recent) == keptEndpoints {
		b.old, recent = recent, nil
	}
	next := make(map[string]*Breaker, len(recent)+1)
	maps.Copy(next, recent)
	next[endpoint] = breaker
	b.recent.Store(&next)
	return breaker
}

// Breaker returns the breaker of an endpoint, or nil if the engine was made without [Options.EndpointBreaker]. It is for
// attempts that choose their endpoint themselves: they ask [Breaker.Allow] before they send, and pass the result to
// [Breaker.Done]. An operation with [Operation.Endpoint] need not do that.
//
// The engine keeps the breakers of the 1,000 endpoints used most recently, and of at most 2,000. One that is used again after
// that is closed.
func (e *Engine) Breaker(endpoint string) *Breaker {
	if e.endpoints == nil {
		return nil
	}
	return e.endpoints.of(endpoint)
}

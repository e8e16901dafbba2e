package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// shuffler answers requests after random times, so in a random order, now and then together with a pushed map.
type shuffler struct {
	mu      sync.Mutex
	random  *rand.Rand
	applied map[string]int // how often each value arrived
}

func (s *shuffler) answer(p *peer, r memd.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied[string(r.Value)]++
	packets := []memd.Packet{reply(r)}
	if s.random.IntN(10) == 0 {
		packets = append([]memd.Packet{push(memd.MapVersion{Revision: 1}, theMap)}, packets...)
	}
	time.AfterFunc(time.Duration(s.random.IntN(5000))*time.Microsecond, func() { p.send(packets...) })
}

// 1,000 callers at a time; some have deadlines, some are cancelled, some send large values. Each gets its own reply or an error that is true:
// a request that was not sent never arrives.
func TestAThousandCallersInRandomOrder(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shuffler{random: rand.New(rand.NewPCG(seed, 0)), applied: make(map[string]int)}
				orphans, maps := 0, 0
				network := memnet.New(memnet.Config{MaxLatency: 2 * time.Millisecond, Seed: seed})
				script := &server{answer: s.answer}
				cfg := script.on(t, network)
				cfg.OnOrphan = func(Orphan) { orphans++ }
				cfg.OnMap = func(*Conn, memd.MapVersion, []byte) { maps++ }
				c := script.connect(t, cfg)
				results := make(chan result, 1<<16)
				var callers sync.WaitGroup
				for n := range 1000 {
					callers.Go(func() { makeRequests(t, c, n, rand.New(rand.NewPCG(seed, uint64(n))), results) })
				}
				callers.Wait()
				close(results)
				pass(time.Second) // so that what is to arrive has arrived
				synctest.Wait()
				check(t, results, s.applied)
				if orphans == 0 || maps == 0 || c.InFlight() != 0 || c.Err() != nil {
					t.Errorf("%d orphans, %d maps, %d in flight, the connection has the error %v", orphans, maps, c.InFlight(), c.Err())
				}
			})
		})
	}
}

// result is the end of one request.
type result struct {
	value string
	err   error
}

// makeRequests makes some requests.
func makeRequests(t *testing.T, c *Conn, n int, random *rand.Rand, results chan<- result) {
	for i := range 10 {
		r := get(fmt.Sprint(n, " ", i, " "))
		if random.IntN(20) == 0 {
			r.Value = append(r.Value, make([]byte, random.IntN(100_000))...)
		}
		if random.IntN(3) == 0 {
			r.Deadline = soon(time.Duration(random.IntN(10_000)) * time.Microsecond)
		}
		if random.IntN(3) == 0 {
			cancelled := make(chan struct{})
			r.Cancelled = cancelled
			time.AfterFunc(time.Duration(random.IntN(20_000))*time.Microsecond, func() { close(cancelled) })
		}
		if random.IntN(5) == 0 {
			pass(time.Duration(random.IntN(5000)) * time.Microsecond)
		}
		var a Reply
		err := c.RoundTrip(&r, &a)
		if err == nil && string(a.Value) != string(r.Value) {
			t.Errorf("a reply of another request: %q for %q", a.Value, r.Value)
		}
		results <- result{string(r.Value), err}
	}
}

// check compares what the callers were told with what arrived.
func check(t *testing.T, results <-chan result, applied map[string]int) {
	t.Helper()
	var unsent, left, replies int
	for r := range results {
		var failed *Error
		switch times := applied[r.value]; {
		case r.err == nil && times == 1:
			replies++
		case !errors.As(r.err, &failed) || !errors.Is(r.err, ErrDeadline) && !errors.Is(r.err, ErrCancelled):
			t.Errorf("%.20q arrived %d times, its error is %v", r.value, times, r.err)
		case failed.Stage == retry.StageBeforeSending && times == 0:
			unsent++
		case failed.Stage == retry.StageInFlight && times <= 1:
			left++
		default:
			t.Errorf("%.20q arrived %d times, its error is %v", r.value, times, r.err)
		}
	}
	if unsent == 0 || left == 0 || replies == 0 {
		t.Errorf("%d replies, %d not sent, %d without a reply", replies, unsent, left)
	}
}

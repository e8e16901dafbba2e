package router_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest"
)

// load is what clients get of a load.
type load struct {
	done, expired int
	longest       time.Duration
}

// offer has clients offer a load for a time: each a find in each period, or as soon as it has the reply to the one before.
func (w *world) offer(clients int, period, span time.Duration, more ...bson.E) load {
	var mu sync.Mutex
	var l load
	var all sync.WaitGroup
	var connected []*wireClient
	for range clients {
		connected = append(connected, w.dial())
	}
	began := time.Now()
	for i, c := range connected {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		all.Go(func() {
			next := began.Add(time.Duration(random.Int64N(int64(max(1, period)))))
			for {
				<-time.After(time.Until(next))
				sent := time.Now()
				if sent.Sub(began) > span {
					return
				}
				reply, err := c.ask(command("find", "c", append(more, e("limit", 1))...), "app")
				if err != nil {
					w.Error(err)
					return
				}
				code, _ := reply.Lookup("code").AsInt64OK()
				mu.Lock()
				l.longest = max(l.longest, time.Since(sent))
				switch {
				case time.Since(began) > span:
				case code == 0:
					l.done++
				case code == 50:
					l.expired++
				default:
					w.Errorf("%v", reply)
				}
				mu.Unlock()
				if next = next.Add(period); next.Before(time.Now()) {
					next = time.Now()
				}
			}
		})
	}
	all.Wait()
	return l
}

// A thousand clients offer twice what the members can do. What they can do is done, for operations whose time has not passed.
func TestFigureOfAnOverload(t *testing.T) {
	least := math.Inf(1)
	for _, limit := range []time.Duration{0, 400 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			clients := memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: 1}
			inWorldOf(t, clients, []mongotest.Option{mongotest.Latency(200*time.Microsecond, time.Millisecond)}, func(w *world) {
				w.fill(1)
				w.set.Use("find", mongotest.Always(mongotest.Fault{Delay: 5 * time.Millisecond}))
				const connections, span = 20, time.Second
				capacity := w.offer(2*connections, 0, span)
				var more []bson.E
				if limit > 0 {
					more = append(more, e("maxTimeMS", limit.Milliseconds()))
				}
				got := w.offer(1000, 1000*span/time.Duration(2*capacity.done), span, more...)
				goodput := float64(got.done) / float64(capacity.done)
				least = min(least, goodput)
				w.Logf("maxTimeMS %v: %d of %d are done, %d have expired, the longest took %v", limit, got.done, capacity.done, got.expired, got.longest)
				if longest := cmp.Or(limit, time.Second) + 5*time.Millisecond; goodput < 0.9 || got.longest > longest {
					w.Errorf("the goodput is %.2f, and the longest took %v", goodput, got.longest)
				}
			}, poolOf(20))
		})
	}
	fmt.Printf("figure router-overload-goodput %.2f\n", least)
}

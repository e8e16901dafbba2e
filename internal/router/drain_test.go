package router_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/devtools/driverload"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

var drains = flag.Int("drains", 2, "how many routers are drained one after the other under load")

// pair is two routers in front of the same members, of which one is drained at a time.
type pair struct {
	*world
	mu      sync.Mutex
	routers [2]*router.Router
	turn    int // of the balancer

	operations, errors, lostCursors atomic.Int64
}

var pairAddresses = [2]string{address, "second:27017"}

const balancerAddress = "balancer:27017"

// TestRoutersDrainUnderLoad drains the two routers in turn, while 32 goroutines of drivers work. No operation fails: neither with drivers that have
// both routers in their seed lists, nor load-balanced ones. Drivers with monitors lose the cursors that are open when they hear of the
// quiesce, because they drop their own connections; the router cannot help that.
func TestRoutersDrainUnderLoad(t *testing.T) {
	latency := memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: 1}
	inWorldOf(t, latency, []mongotest.Option{mongotest.JournalLimit(1000)}, func(w *world) {
		p := &pair{world: w}
		p.routers = [2]*router.Router{w.router, w.start(pairAddresses[1], p.config())}
		stop := p.load(p.loaders())
		for n := range *drains {
			<-time.After(time.Second)
			p.drain(n % 2)
		}
		stop()
		for _, r := range p.routers {
			r.Close()
		}
		t.Logf("%d operations, %d errors, %d cursors lost by drivers with monitors", p.operations.Load(), p.errors.Load(), p.lostCursors.Load())
		fmt.Printf("figure router-operations-errors %d\n", p.errors.Load())
	}, quiesceSoon)
}

// quiesceSoon shortens the quiesce, in which the load goes on.
func quiesceSoon(c *router.Config) { c.Quiesce = 4 * time.Second }

func (p *pair) config() router.Config {
	c := router.Config{Upstream: p.upstream()}
	quiesceSoon(&c)
	return c
}

// DialContext implements options.ContextDialer. The balancer takes the next router that is ready.
func (p *pair) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	if to == balancerAddress {
		to = p.balanced()
	}
	return p.network.DialContext(ctx, network, to)
}

func (p *pair) balanced() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	for range p.routers {
		if _, ready := p.routers[p.turn%2].Ready(); ready {
			break
		}
		p.turn++
	}
	return pairAddresses[p.turn%2]
}

// drain drains a router, and starts another one in its place.
func (p *pair) drain(k int) {
	p.routers[k].Shutdown(p.Context())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.routers[k] = p.start(pairAddresses[k], p.config())
}

func (p *pair) loaders() []driverload.Loader {
	both := func() *options.ClientOptions {
		return options.Client().SetHosts(pairAddresses[:]).SetDialer(p).SetHeartbeatInterval(time.Second)
	}
	balanced := func() *options.ClientOptions {
		return options.Client().SetHosts([]string{balancerAddress}).SetLoadBalanced(true).SetDialer(p)
	}
	return []driverload.Loader{
		p.loader(driverload.Official("the official driver", both())), p.loader(driverload.Ours("our client", both())),
		p.loader(driverload.Official("the official driver, load-balanced", balanced())), p.loader(driverload.Ours("our client, load-balanced", balanced())),
	}
}

func (p *pair) loader(l driverload.Loader, err error) driverload.Loader {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	return l
}

// load has each driver operate in eight goroutines, until stop is called.
func (p *pair) load(all []driverload.Loader) (stop func()) {
	for i := range driverload.Documents {
		p.dial().must(command("insert", driverload.Seeded, e("documents", bson.A{d("_id", i)})))
	}
	ctx, cancel := context.WithCancel(p.Context())
	var working sync.WaitGroup
	for _, l := range all {
		for i := range 8 {
			working.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					l.Operate(p.Context(), fmt.Sprint(l.Name, " ", i, " ", n), func(what string, operation func() error) { p.note(l.Name, what, operation()) })
					<-time.After(pace)
				}
			})
		}
	}
	return func() {
		cancel()
		working.Wait()
		for _, l := range all {
			l.Close()
		}
	}
}

// pace is the pause of a goroutine after five operations.
const pace = 300 * time.Millisecond

func (p *pair) note(driver, what string, err error) {
	p.operations.Add(1)
	switch {
	case err == nil:
	case what == "cursor" && strings.Contains(err.Error(), "was cleared because another operation failed with"):
		p.lostCursors.Add(1)
	default:
		p.errors.Add(1)
		p.Errorf("%s: %s: %v", driver, what, err)
	}
}

package simulation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongotest"
)

// routers are those of a life in which clients do not reach the members themselves.
type routers struct {
	settings
	rs      *mongotest.Deployment
	history *history
	network *memnet.Network // between clients and routers
	links   [][]*link       // by router and member

	mu      sync.Mutex
	serving []*router.Router // nil while one is dead
	turn    int              // of the balancer
	carries map[carried]int  // the router of a connection
	ended   sync.WaitGroup
}

// carried is a connection at a member.
type carried struct {
	member int
	conn   int64
}

// balancer is the address of a TCP balancer in front of the routers.
const balancer = "balancer:27017"

func routerAddress(k int) string { return fmt.Sprintf("router%d:27017", k) }

func startRouters(s settings, rs *mongotest.Deployment, h *history) (*routers, error) {
	r := &routers{
		settings: s, rs: rs, history: h, serving: make([]*router.Router, s.routers), carries: make(map[carried]int),
		network: memnet.New(memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: s.Seed}),
	}
	rs.Use(mongotest.AnyCommand, r.noteConnection)
	rs.Use(mongotest.AnyCommand, nameAsker)
	for k := range r.serving {
		var links []*link
		for range rs.Members() {
			links = append(links, new(link))
		}
		r.links = append(r.links, links)
		if err := r.start(k); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// noteConnection notes which router has a connection: the handshake has its name.
func (r *routers) noteConnection(q *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	if name, has := q.Body.Lookup("client", "application", "name").StringValueOK(); has {
		for k := range r.serving {
			if name == routerAddress(k) {
				r.mu.Lock()
				r.carries[carried{q.Member, q.ConnID}] = k
				r.mu.Unlock()
			}
		}
	}
	return next(q)
}

// routerOf returns the router that sent a message.
func (r *routers) routerOf(q *mongotest.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carries[carried{q.Member, q.ConnID}]
}

// start starts a router, which has nothing of the one before at its address.
func (r *routers) start(k int) error {
	upstream := options.Client().ApplyURI(r.rs.URI()).SetDialer(leg{r, k}).SetHeartbeatInterval(r.heartbeat()).SetAppName(routerAddress(k))
	started, err := router.New(router.Config{Upstream: upstream})
	if err != nil {
		return err
	}
	l, err := r.network.Listen(routerAddress(k))
	if err != nil {
		return err
	}
	r.ended.Go(func() {
		if err := started.Serve(l); !errors.Is(err, router.ErrClosed) {
			r.history.violated("simulation", "router %d: %v", k, err)
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serving[k] = started
	return nil
}

// take takes a router from those that serve. It returns nil if it is dead, or about to end.
func (r *routers) take(k int) *router.Router {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.serving[k]
	r.serving[k] = nil
	return taken
}

// again starts a router again.
func (r *routers) again(k int) {
	if err := r.start(k); err != nil {
		r.history.violated("simulation", "router %d cannot start again: %v", k, err)
	}
}

// leg is the network between one router and the members.
type leg struct {
	routers *routers
	router  int
}

// DialContext implements options.ContextDialer.
func (l leg) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.routers.rs.Dialer().DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	for m := range l.routers.rs.Members() {
		if l.routers.rs.Addr(m) == address {
			return l.routers.links[l.router][m].relay(conn), nil
		}
	}
	return conn, nil
}

// DialContext implements options.ContextDialer for clients. The balancer takes the next router that is ready, as one does that asks for that.
func (r *routers) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if address != balancer {
		return r.network.DialContext(ctx, network, address)
	}
	r.mu.Lock()
	r.turn++
	k := r.turn % len(r.serving)
	for range r.serving {
		if r.serving[k] == nil {
			k = (k + 1) % len(r.serving)
		}
	}
	r.mu.Unlock()
	return r.network.DialContext(ctx, network, routerAddress(k))
}

// close ends the routers, of which nothing may be left. Their clients have ended.
func (r *routers) close() {
	simlife.Pause(time.Second) // a router reads the ends of connections
	for k := range r.serving {
		last := r.take(k)
		if last == nil {
			r.history.violated("simulation", "router %d is dead at the end", k)
			continue
		}
		if clients, waiting := last.Clients(), last.Waiting(); clients != 0 || waiting != 0 {
			r.history.violated("leak", "router %d has %d clients at the end, and %d operations that wait", k, clients, waiting)
		}
		last.Close()
	}
	r.ended.Wait()
}

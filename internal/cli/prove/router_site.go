package prove

import (
	"errors"
	"fmt"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Routed puts a router between the clients and each embedded replica set.
type Routed struct{ *Embedded }

var _ Deployment = Routed{}

// Backend returns the experiment about MongoDB behind a router.
func (r Routed) Backend() *Backend { return Router }

func (r Routed) describe() string { return r.Embedded.describe() + ", a router in front of each" }

// unavailable: what breaks the leg before the router is a proxy, which has real sockets.
func (r Routed) unavailable(_ Strategy, f Failure) string {
	if f.before && r.memory {
		return "n/a, in memory"
	}
	return ""
}

func (r Routed) open(c *cell) (site, error) {
	rs, err := r.run(c.settings)
	if err != nil {
		return nil, err
	}
	behind, err := startRouter(rs)
	if err != nil {
		return nil, errors.Join(err, rs.close())
	}
	var servers mongoServers = behind
	if c.failure.before {
		if servers, err = newFront(behind); err != nil {
			return nil, errors.Join(err, behind.close())
		}
	}
	s := newMongoSite(servers, c)
	s.audited.URI, s.audited.Dialer = rs.URI(), rs.Dialer() // the audit asks the members themselves
	return s, nil
}

// routedSet is a replica set behind a router. The faults are those of the replica set.
type routedSet struct {
	*replicaSet
	router *router.Router
	front  Target     // of the clients
	served chan error // the error of Serve
}

// routerAddress is the router's in memory.
const routerAddress = "router:27017"

func startRouter(rs *replicaSet) (*routedSet, error) {
	t := rs.settings.Timing
	r, err := router.New(router.Config{Window: t.ServerSelection, Upstream: options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).
		SetConnectTimeout(t.Connect).SetHeartbeatInterval(t.Heartbeat).SetServerMonitoringMode("poll")})
	if err != nil {
		return nil, fmt.Errorf("starting a router: %w", err)
	}
	s := &routedSet{replicaSet: rs, router: r, served: make(chan error, 1)}
	l, err := s.listen()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("starting a router: %w", err)
	}
	s.front.URI = "mongodb://" + l.Addr().String() + "/"
	go func() { s.served <- r.Serve(l) }()
	return s, nil
}

func (s *routedSet) listen() (net.Listener, error) {
	if !s.memory {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	network := memnet.New(memnet.Config{})
	s.front.Dialer = network
	return network.Listen(routerAddress)
}

func (s *routedSet) target() Target { return s.front }

// connectingAgain is the longest time that a router waits between three attempts to connect, before it waits for another server: the first
// two delays of the specification Client Backpressure.
const connectingAgain = 600 * time.Millisecond

func (s *routedSet) delay(attempts int) time.Duration {
	return s.replicaSet.delay(attempts) + connectingAgain
}

func (s *routedSet) close() error {
	s.router.Close()
	err := <-s.served
	if errors.Is(err, router.ErrClosed) {
		err = nil
	}
	return errors.Join(err, s.replicaSet.close())
}

// front breaks the leg between the clients and the router. The servers' journal says nothing about that: its messages are the router's.
type front struct {
	*routedSet
	proxy *mongotest.Proxy
}

func newFront(s *routedSet) (*front, error) {
	p, err := mongotest.RunProxy(s.front.URI)
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	return &front{s, p}, nil
}

func (f *front) target() Target                          { return Target{URI: f.proxy.URI()} }
func (f *front) intercept(m mongotest.Middleware) func() { return f.proxy.Use("update", m) }
func (f *front) journal() ([]mongotest.Entry, bool)      { return nil, false }
func (f *front) close() error                            { return errors.Join(f.proxy.Close(), f.routedSet.close()) }

//go:build !spec_holdfast

package spec

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
	"github.com/holdfast-db/holdfast/internal/router"
)

// routed is a replica set of mongotest with routers in front of it, where the suites expect the mongos of a sharded cluster.
type routed struct {
	server
	network *memnet.Network
	hosts   []string // of URI
	single  string   // host of SingleURI
}

const routers = 2

// startRouted makes one. The facts are those of what the clients see.
func startRouted(t *testing.T, facts unified.Facts) unified.Deployment {
	behind := facts
	behind.Topology = "replicaset"
	r := &routed{server: server{startServer(t, behind).Deployment, facts}}
	r.network = memnet.New(memnet.Config{MinLatency: latency, MaxLatency: latency})
	var all []*turns
	for i := range routers {
		r.hosts = append(r.hosts, fmt.Sprintf("router%d:27017", i))
		all = append(all, r.startRouter(t, r.listen(t, r.hosts[i])))
	}
	if facts.Topology == "load-balanced" {
		const both, one = "balancer0:27017", "balancer1:27017"
		go balance(r.listen(t, both), all...)
		go balance(r.listen(t, one), all[0])
		r.hosts, r.single = []string{both}, one
	} else {
		r.single = r.hosts[0]
	}
	return r
}

func (r *routed) listen(t *testing.T, address string) net.Listener {
	l, err := r.network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// startRouter starts a router with a fail point before it. It returns the listener by which a load balancer gives it connections.
func (r *routed) startRouter(t *testing.T, l net.Listener) *turns {
	upstream := options.Client().ApplyURI(r.server.URI())
	r.server.Configure(upstream)
	started, err := router.New(router.Config{Upstream: upstream, PassThrough: r.facts.Auth})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(started.Close)
	point := new(failPoint)
	balanced := &turns{Listener: l, conns: make(chan net.Conn), closed: make(chan struct{})}
	go started.Serve(&pointedListener{l, point})
	go started.Serve(&pointedListener{balanced, point})
	return balanced
}

// turns is a router's listener behind a load balancer.
type turns struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *turns) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *turns) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// balance gives the connections of a listener to routers, in turn.
func balance(from net.Listener, to ...*turns) {
	for i := 0; ; i++ {
		c, err := from.Accept()
		if err != nil {
			return
		}
		l := to[i%len(to)]
		select {
		case l.conns <- c:
		case <-l.closed:
			_ = c.Close()
		}
	}
}

func (r *routed) URI() string       { return r.uri(r.hosts...) }
func (r *routed) SingleURI() string { return r.uri(r.single) }

func (r *routed) uri(hosts ...string) string {
	uri := "mongodb://" + strings.Join(hosts, ",") + "/"
	if r.facts.Topology == "load-balanced" {
		uri += "?loadBalanced=true"
	}
	return uri
}

func (r *routed) Configure(o *options.ClientOptions) {
	r.server.Configure(o)
	o.SetDialer(r.network)
}

package languages

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// throughRouter plays the scenario through a router, which the driver takes for a mongos, or, balanced, for what is behind a load
// balancer. The driver logs in as a user of the members; the router, which passes that through, has another user.
func (c *client) throughRouter(balanced bool, passed *atomic.Int64) func(*testing.T) {
	return func(t *testing.T) {
		set := newSet(t, mongotest.ElectionTimeout(200*time.Millisecond), // all that these runs wait for
			mongotest.Users(mongotest.User{Name: "router", Password: "router's"}))
		l, uri := startRouter(t, options.Client().ApplyURI(set.URI()).SetAuth(options.Credential{Username: "router", Password: "router's"}))
		uri = withCredentials(uri)
		if balanced {
			uri += "?loadBalanced=true"
		}
		// The router's connections do not break, so it does not matter which command meets the crash, and it is the same for all.
		c.follow(t, set, uri, "insert", func(v verifier) {
			v.sameDriver(l.drivers(), c.driver)
			for _, h := range l.handshakes() {
				if h.balanced != balanced {
					t.Errorf("the hello of %s had loadBalanced: %t, want %t", h.driver, h.balanced, balanced)
				}
			}
		})
		if !t.Failed() {
			passed.Add(1)
		}
	}
}

// startRouter starts a router on TCP and returns its listener and its connection string.
func startRouter(t *testing.T, upstream *options.ClientOptions) (l *listener, uri string) {
	t.Helper()
	r, err := router.New(router.Config{Upstream: upstream, PassThrough: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	on, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = &listener{Listener: on}
	go r.Serve(l)
	return l, "mongodb://" + on.Addr().String() + "/"
}

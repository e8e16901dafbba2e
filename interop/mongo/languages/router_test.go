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
// balancer. The driver uses TLS and logs in as a user of the members; the router, which passes that through, has another user.
func (c *client) throughRouter(balanced bool, passed *atomic.Int64) func(*testing.T) {
	return func(t *testing.T) {
		set := newRoutedSet(t)
		a := newAuthority(t)
		l := startRouter(t, router.Config{Upstream: asRouter(set), PassThrough: true, TLS: secured(a.server())})
		option, environment := c.trust(t, a)
		uri := withCredentials(l.uri()) + "?tls=true" + option
		if balanced {
			uri += "&loadBalanced=true"
		}
		profileUsers(t, set)
		// The router's connections do not break, so it does not matter which command meets the crash, and it is the same for all.
		c.follow(t, set, uri, "insert", func(v verifier) { v.throughThis(l, c.driver, balanced) }, environment...)
		checkUsers(t, set, user+"@admin")
		checkConnectionStatus(t, options.Client().ApplyURI(withCredentials(l.uri())).SetTLSConfig(a.client()))
		if !t.Failed() {
			passed.Add(1)
		}
	}
}

// newRoutedSet returns a set that has another user for the router, and elects soon: that is all that these runs wait for.
func newRoutedSet(t *testing.T) *mongotest.Deployment {
	t.Helper()
	return newSet(t, mongotest.ElectionTimeout(200*time.Millisecond), mongotest.Users(mongotest.User{Name: routerUser, Password: routerPassword}))
}

const routerUser, routerPassword = "router", "router's"

// asRouter returns the options of the router's client.
func asRouter(set *mongotest.Deployment) *options.ClientOptions {
	return options.Client().ApplyURI(set.URI()).SetAuth(options.Credential{Username: routerUser, Password: routerPassword})
}

// startRouter starts a router on TCP and returns its listener.
func startRouter(t *testing.T, cfg router.Config) *listener {
	t.Helper()
	r, err := router.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	on, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: on}
	go r.Serve(l)
	return l
}

// uri is the connection string of the router.
func (l *listener) uri() string { return "mongodb://" + l.Addr().String() + "/" }

// throughThis checks that the connections to a router were this driver's, in this mode.
func (v verifier) throughThis(l *listener, driver string, balanced bool) {
	v.t.Helper()
	v.sameDriver(l.drivers(), driver)
	for _, h := range l.handshakes() {
		if h.balanced != balanced {
			v.t.Errorf("the hello of %s had loadBalanced: %t, want %t", h.driver, h.balanced, balanced)
		}
	}
}

package mongo_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// unknownHost is a connection string with a host name, so that its address would be looked up.
const unknownHost = "mongodb://server.example:1"

// networkUse counts how often the network is used. It refuses each use.
type networkUse struct{ dials, queries atomic.Int64 }

// DialContext implements options.ContextDialer.
func (n *networkUse) DialContext(context.Context, string, string) (net.Conn, error) {
	n.dials.Add(1)
	return nil, net.ErrClosed
}

// countQueries counts the DNS queries of package net until the test ends.
func (n *networkUse) countQueries(t *testing.T) {
	t.Helper()
	useResolver(t, func(context.Context, string, string) (net.Conn, error) {
		n.queries.Add(1)
		return nil, net.ErrClosed
	})
	// The first look-up of a process makes a channel of package net, which must not belong to a bubble.
	if _, err := net.DefaultResolver.LookupHost(t.Context(), "server.example"); err == nil || n.queries.Swap(0) == 0 {
		t.Fatalf("a DNS query is not counted: %v", err)
	}
}

// none checks that the network was not used.
func (n *networkUse) none(t *testing.T) {
	t.Helper()
	if dials, queries := n.dials.Load(), n.queries.Load(); dials != 0 || queries != 0 {
		t.Errorf("there were %d dials and %d DNS queries", dials, queries)
	}
}

// refused returns the error of connect, which must not use the network: neither before it returns nor, by a goroutine that it
// leaves, afterwards.
func refused(t *testing.T, n *networkUse, connect func() (*mongo.Client, error)) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) {
		var client *mongo.Client
		if client, err = connect(); err == nil {
			_ = client.Disconnect(t.Context())
			t.Fatal("it is accepted")
		}
		wait(time.Minute)
		n.none(t)
	})
	return err
}

// Without this, a counter that is never asked would make the tests of refusals pass.
func TestTheNetworkUseOfAClientIsCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialer  bool
		counter func(*networkUse) *atomic.Int64
	}{
		{"by its Dialer", true, func(n *networkUse) *atomic.Int64 { return &n.dials }},
		{"by the resolver of package net", false, func(n *networkUse) *atomic.Int64 { return &n.queries }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &networkUse{}
			n.countQueries(t)
			o := options.Client().ApplyURI(unknownHost)
			if c.dialer {
				o.SetDialer(n)
			}
			synctest.Test(t, func(t *testing.T) {
				client, err := mongo.Connect(o)
				if err != nil {
					t.Fatal(err)
				}
				wait(time.Second)
				if c.counter(n).Load() == 0 {
					t.Error("nothing is counted")
				}
				if err := client.Disconnect(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

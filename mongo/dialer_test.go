package mongo_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

var errBroken = errors.New("broken")

// faultyDialers are Dialers of an application that do not keep the rules of a Dialer.
var faultyDialers = []struct {
	name string
	dial dialerFunc
	want string
}{
	{"a Dialer that panics", func(context.Context, string, string) (net.Conn, error) { panic("boom") }, "the Dialer panicked in mongo_test.init.func"},
	{"a Dialer that panics with an error", func(context.Context, string, string) (net.Conn, error) { panic(errBroken) }, "dialer_test.go:"},
	{"a Dialer that uses a nil pointer", func(_ context.Context, _, address string) (net.Conn, error) {
		var config *struct{ prefix string }
		return net.Dial("tcp", config.prefix+address)
	}, "dialer_test.go:"},
	{"a Dialer that returns nothing", func(context.Context, string, string) (net.Conn, error) { return nil, nil }, "the Dialer returned neither a connection nor an error"}, //nolint:nilnil // that is its fault
}

// The Dialer runs in goroutines of the client, so that the application cannot recover.
func TestAFaultyDialerDoesNotEndTheProcess(t *testing.T) {
	for _, c := range faultyDialers {
		t.Run(c.name, func(t *testing.T) {
			client, err := mongo.Connect(options.Client().ApplyURI("mongodb://server.example").SetDialer(c.dial).
				SetServerSelectionTimeout(time.Second))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Disconnect(context.Background()) }()
			err = client.Ping(context.Background(), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; it must contain %q", err, c.want)
			}
		})
	}
}

// The monitors are connected when the dialer begins to fail: the attempt fails as by any other error of a dial.
func TestAFaultyDialIsRetried(t *testing.T) {
	for _, c := range faultyDialers {
		t.Run(c.name, func(t *testing.T) {
			var faults atomic.Int64
			in(t, func(o *options.ClientOptions) {
				next := o.Dialer
				o.SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
					if faults.Add(-1) >= 0 {
						return c.dial(ctx, network, address)
					}
					return next.DialContext(ctx, network, address)
				}))
			}, func(w *world) {
				w.pass(time.Second)
				faults.Store(1)
				w.must(w.insertText(1, "text"))
				if n := faults.Load(); n >= 0 {
					t.Errorf("the Dialer was not called twice: %d", n)
				}
			})
		})
	}
}

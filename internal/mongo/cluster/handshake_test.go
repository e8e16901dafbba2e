package cluster

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// refusing returns a script that answers every hello with an error.
func refusing(code int32, message string) func(*question) bool {
	return func(q *question) bool {
		q.answer(bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: message}})
		return true
	}
}

func dialError(err error) func(*peer) {
	return func(p *peer) { p.dial = func(context.Context) error { return &net.OpError{Op: "dial", Err: err} } }
}

// handshakes are failures of a new connection, each with its effect on the server.
var handshakes = []struct {
	name  string
	fail  func(*peer)
	after time.Duration

	network, connecting, timeout bool
	want                         reaction
}{
	{
		name: "a refused connection may be an overload: a check is requested", fail: dialError(syscall.ECONNREFUSED),
		network: true, connecting: true, want: reaction{checkNow: true},
	},
	{
		name: "a dial that the system times out may be an overload: a check is requested", fail: dialError(os.ErrDeadlineExceeded),
		network: true, connecting: true, timeout: true, want: reaction{checkNow: true},
	},
	{
		name: "a dial that reaches the connect timeout may be an overload: a check is requested",
		fail: func(p *peer) {
			p.dial = func(ctx context.Context) error { <-ctx.Done(); return &net.DNSError{Err: "operation was canceled"} }
		},
		after: 30 * time.Second, network: true, connecting: true, timeout: true, want: reaction{checkNow: true},
	},
	{
		name:  "a hello without a reply may be an overload: a check is requested",
		fail:  func(p *peer) { p.script = func(*question) bool { return true } },
		after: 30 * time.Second, network: true, connecting: true, timeout: true, want: reaction{checkNow: true},
	},
	{
		name:    "a connection closed during hello may be an overload: a check is requested",
		fail:    func(p *peer) { p.script = func(q *question) bool { q.conn.Close(); return true } },
		network: true, connecting: true, want: reaction{checkNow: true},
	},
	{
		name: "a failed DNS lookup is not an overload: the server is Unknown", fail: dialError(&net.DNSError{Err: "no such host"}),
		network: true, want: reaction{unknown: true, cleared: true},
	},
	{
		name: "a shutdown error in hello clears the pool",
		fail: func(p *peer) { p.script = refusing(91, "shutting down") }, want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "a state change error in hello requests a check",
		fail: func(p *peer) { p.script = refusing(11602, "interrupted") }, want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "another error reply to hello clears the pool",
		fail: func(p *peer) { p.script = refusing(18, "denied") }, want: reaction{unknown: true, cleared: true},
	},
}

func TestAFailedHandshake(t *testing.T) {
	for _, c := range handshakes {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: standalone()}
				s := bare(t, p, nil)
				found(t, s, standalone())
				p.set(c.fail)
				began := time.Now()
				_, err := s.CheckOut(t.Context(), nil)
				var failed *HandshakeError
				if !errors.As(err, &failed) || time.Since(began) != c.after {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				if failed.Network != c.network || failed.Connecting != c.connecting || failed.Timeout != c.timeout {
					t.Errorf("network %v, connecting %v, timeout %v", failed.Network, failed.Connecting, failed.Timeout)
				}
				if (failed.Reply == nil) == !c.network {
					t.Errorf("the reply is %v", failed.Reply)
				}
				c.want.check(t, s)
				counters(t, s, 0, 0, 0)
			})
		})
	}
}

// reaction is the effect of an error on a known server.
type reaction struct{ unknown, cleared, checkNow bool }

func (want reaction) check(t *testing.T, s *Server) {
	t.Helper()
	got := reaction{
		unknown: kindOf(s.cluster, s.address) == topology.Unknown, cleared: s.pool.state == paused,
		checkNow: len(s.check) > 0,
	}
	if got != want {
		t.Errorf("unknown %v, pool cleared %v, check requested %v; want %v, %v, %v",
			got.unknown, got.cleared, got.checkNow, want.unknown, want.cleared, want.checkNow)
	}
}

func TestTheHandshakeOfAnApplicationsConnectionUpdatesTheTopology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		p.set(func(p *peer) { p.hello = append(standalone(), bson.E{Key: "logicalSessionTimeoutMinutes", Value: 30}) })
		if err := operation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		d := s.cluster.Snapshot().Description
		if d.SessionTimeoutMinutes == nil || d.Servers[0].RTT != time.Millisecond {
			t.Errorf("the server is %+v", d.Servers[0])
		}
	})
}

// Otherwise a server whose pool is paused would become selectable, and operations would fail until the next check.
func TestAHandshakeOlderThanThePoolClearDoesNotUpdateTheTopology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		answer := make(chan struct{})
		p.set(func(p *peer) { p.script = func(*question) bool { <-answer; return false } })
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the handshake", connecting)
		s.cluster.report(s, topology.ErrorInfo{Err: errDown, Kind: topology.NetworkError, HandshakeDone: true})
		close(answer)
		if err := settled(t, "the operation", connecting); err != nil {
			t.Error(err)
		}
		reaction{unknown: true, cleared: true}.check(t, s)
		counters(t, s, 0, 0, 0)
	})
}

// firstHello returns the first hello of a connection in an empty environment. The connection logs in if a is not nil.
func firstHello(t *testing.T, h *Handshake, a *auth.Authenticator) bson.Raw {
	t.Helper()
	cfg := Config{Handshake: *h, Environment: emptyEnvironment(), Topology: topology.Config{Seeds: []string{addrA}}}
	hello := initialHello{Handshake: h, metadata: bareOn(t, cfg).cluster.metadata.document()}
	if a != nil {
		hello.login = a.Begin("a")
	}
	at, b := wire.BeginDocument(nil)
	b, err := hello.append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return wire.EndDocument(b, at)
}

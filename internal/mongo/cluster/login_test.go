package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// plainLogin sets credentials for PLAIN, whose login is one command after hello.
func plainLogin(t *testing.T) func(*Config) {
	t.Helper()
	a, err := auth.New(auth.Credential{Mechanism: auth.Plain, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return func(cfg *Config) { cfg.Auth = a }
}

// loginPeer answers hello, and the login with answer. Without an answer it says that the login is complete.
func loginPeer(answer func(*question)) *peer {
	if answer == nil {
		answer = loggedIn
	}
	return &peer{hello: standalone(), script: func(q *question) bool {
		if q.hello || q.header.RequestID != 2 { // 2 is the login
			return false
		}
		answer(q)
		return true
	}}
}

func loggedIn(q *question) {
	q.answer(bson.D{{Key: "done", Value: true}, {Key: "payload", Value: []byte{}}, {Key: "ok", Value: 1}})
}

func loginRefused(code int32) func(*question) {
	return func(q *question) {
		q.answer(bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "codeName", Value: "Name"}, {Key: "errmsg", Value: "no"}})
	}
}

// Sources: SDAM, "Application errors"; Connection Monitoring and Pooling, "Establishing a Connection"; Client
// Backpressure: a failed login is no sign of an overload.
func TestAFailedLogin(t *testing.T) {
	lost := reaction{unknown: true, cleared: true}
	for _, c := range []struct {
		name             string
		answer           func(*question)
		after            time.Duration
		network, timeout bool
		reply            bool
		want             reaction
	}{
		{name: "wrong credentials clear the pool", answer: loginRefused(18), reply: true, want: lost},
		{name: "a mechanism that is not enabled clears the pool", answer: loginRefused(334), reply: true, want: lost},
		{
			name: "a state change error requests a check", answer: loginRefused(11602), reply: true,
			want: reaction{unknown: true, checkNow: true},
		},
		{
			name: "a shutdown error clears the pool", answer: loginRefused(91), reply: true,
			want: reaction{unknown: true, cleared: true, checkNow: true},
		},
		{name: "a connection closed during the login clears the pool", answer: func(q *question) { q.conn.Close() }, network: true, want: lost},
		{
			name: "a login without a reply clears the pool", answer: func(*question) {}, after: 30 * time.Second,
			network: true, timeout: true, want: lost,
		},
		{
			name: "a server that breaks the rules of the login clears the pool", want: lost,
			answer: func(q *question) { q.answer(bson.D{{Key: "done", Value: true}, {Key: "ok", Value: 1}}) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := loginPeer(c.answer)
				s := bare(t, p, plainLogin(t))
				found(t, s, standalone())
				began := time.Now()
				_, err := s.CheckOut(t.Context(), nil)
				var failed *HandshakeError
				var login *auth.Error
				if !errors.As(err, &failed) || time.Since(began) != c.after {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				if !c.timeout && !errors.As(err, &login) {
					t.Errorf("%v is not an error of the login", err)
				}
				if failed.Connecting || failed.Network != c.network || failed.Timeout != c.timeout || failed.Check != nil {
					t.Errorf("connecting %v, network %v, timeout %v, checked %v", failed.Connecting, failed.Network, failed.Timeout, failed.Check)
				}
				if (failed.Reply != nil) != c.reply {
					t.Errorf("the reply is %v", failed.Reply)
				}
				c.want.check(t, s)
				counters(t, s, 0, 0, 0)
				p.wantEnded(t, 0)
			})
		})
	}
}

func TestALoginHappensOnceForEachConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loginPeer(nil)
		s := bare(t, p, plainLogin(t))
		found(t, s, standalone())
		for range 3 {
			if err := operation(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		logins := 0
		p.set(func(p *peer) {
			for _, q := range p.asked {
				if !q.hello && q.header.RequestID == 2 {
					logins++
				}
			}
		})
		if p.dialed != 1 || logins != 1 {
			t.Errorf("%d connections and %d logins, want 1 and 1", p.dialed, logins)
		}
	})
}

// Source: MongoDB Handshake: monitors do not authenticate. An arbiter knows no users.
func TestWhoDoesNotLogIn(t *testing.T) {
	a, err := auth.New(auth.Credential{Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a monitor", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var hellos []bson.Raw
			p := &peer{hello: standalone()}
			p.script = func(q *question) bool {
				if q.handshake {
					hellos = append(hellos, q.document)
				}
				return false
			}
			c := start(t, network{addrA: p}, func(cfg *Config) { cfg.Auth = a })
			selected(t, c)
			pass(t, 2*c.cfg.HeartbeatInterval)
			p.set(func(p *peer) {
				if len(hellos) != 1 || len(p.asked) < 3 {
					t.Fatalf("%d first hellos and %d messages", len(hellos), len(p.asked))
				}
				for _, key := range []string{"saslSupportedMechs", "speculativeAuthenticate"} {
					if _, err := hellos[0].LookupErr(key); err == nil {
						t.Errorf("the monitor sends %s", key)
					}
				}
				for _, q := range p.asked {
					if !q.hello {
						t.Error("the monitor sends more than hellos")
					}
				}
			})
		})
	})
	t.Run("a connection to an arbiter, by an option", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			arbiter := bson.D{{Key: "ismaster", Value: false}, {Key: "arbiterOnly", Value: true}, {Key: "setName", Value: "rs"}, {Key: "hosts", Value: bson.A{addrA}}, {Key: "maxWireVersion", Value: 21}}
			p := &peer{hello: arbiter}
			p.script = func(q *question) bool {
				if !q.hello {
					loginRefused(18)(q)
				}
				return !q.hello
			}
			s := bare(t, p, func(cfg *Config) {
				cfg.Auth, cfg.AuthArbiters, cfg.Topology.Direct = a, true, new(bool)
				*cfg.Topology.Direct = true
			})
			found(t, s, arbiter)
			if _, err := s.CheckOut(t.Context(), nil); err == nil || len(p.asked) < 2 {
				t.Errorf("%d messages were sent: %v; the arbiter refuses the login", len(p.asked), err)
			}
		})
	})
	t.Run("a connection to an arbiter", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			arbiter := bson.D{
				{Key: "ismaster", Value: false},
				{Key: "arbiterOnly", Value: true},
				{Key: "setName", Value: "rs"},
				{Key: "hosts", Value: bson.A{addrA}},
				{Key: "maxWireVersion", Value: 21},
			}
			p := &peer{hello: arbiter}
			s := bare(t, p, func(cfg *Config) { cfg.Auth, cfg.Topology.Direct = a, new(bool); *cfg.Topology.Direct = true })
			found(t, s, arbiter)
			s.CheckIn(checkOut(t, s))
			if len(p.asked) != 1 {
				t.Errorf("%d messages were sent, want one hello", len(p.asked))
			}
		})
	})
}

// Load Balancer specification, "Initial Handshake Errors": "Any errors that occur during the rest of connection establishment
// (e.g. errors during authentication commands) MUST go through the SDAM error handling flow but MUST NOT mark the server as
// Unknown and when requiring the connection pool to be cleared, MUST only clear connections for the serviceId."
func TestALoginThatFailsBehindALoadBalancerClearsItsService(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(*question)
	}{
		{"the login is refused", loginRefused(18)},
		{"the connection breaks", func(q *question) { q.conn.Close() }},
		{"there is no answer", func(*question) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, heard := bson.NewObjectID(), newListener()
				p := &peer{hello: append(standalone(), bson.E{Key: "serviceId", Value: service}, bson.E{Key: "msg", Value: "isdbgrid"})}
				p.script = func(q *question) bool {
					if !q.hello {
						c.answer(q)
					}
					return !q.hello
				}
				cluster := start(t, network{addrA: p}, func(cfg *Config) {
					plainLogin(t)(cfg)
					cfg.Topology.LoadBalanced, cfg.Handshake.LoadBalanced, cfg.PoolMonitor = true, true, heard.monitor()
				})
				s := selected(t, cluster)
				for want := 1; want < 4; want++ {
					if _, err := s.CheckOut(t.Context(), nil); err == nil {
						t.Fatal("the login succeeds")
					}
					cleared := 0
					events, _ := heard.all()
					for _, e := range events {
						if e.Type == event.ConnectionPoolCleared && e.ServiceID != nil && *e.ServiceID == service {
							cleared++
						}
					}
					if cleared != want {
						t.Errorf("the service was cleared %d times, want %d", cleared, want)
					}
				}
				if s.pool.state != ready || kindOf(cluster, addrA) != topology.LoadBalancer {
					t.Errorf("the pool is in state %v, the server is %v", s.pool.state, kindOf(cluster, addrA))
				}
			})
		})
	}
}

func TestEveryCommandOfALoginDeclaresTheAPIVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := loginPeer(nil)
		s := bare(t, p, func(cfg *Config) {
			plainLogin(t)(cfg)
			cfg.Handshake.ServerAPI = &ServerAPI{Version: "1"}
		})
		found(t, s, standalone())
		if err := operation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if sent := p.asked[1].document; sent.Lookup("apiVersion").StringValue() != "1" || sent.Lookup("$db").StringValue() != "$external" {
			t.Errorf("the login is %v", sent)
		}
	})
}

// The time limit may pass while the client computes its proof.
func TestAnImpostorIsReportedAfterTheTimeLimitToo(t *testing.T) {
	s := &Server{address: addrA}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	wrong := &auth.Error{Mechanism: auth.SCRAMSHA256, Err: errors.New("wrong proof")}
	if e := s.handshakeError(ctx, wrong); !errors.Is(e, wrong) || e.Timeout || e.Network || e.Connecting {
		t.Errorf("%+v", e)
	}
}

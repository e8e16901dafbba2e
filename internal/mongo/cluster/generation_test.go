package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// balanced starts a cluster behind a load balancer, which connects to the services in turn.
func balanced(t *testing.T, l *listener, services ...bson.ObjectID) (*Cluster, *peer) {
	t.Helper()
	p := &peer{}
	p.script = func(q *question) bool {
		if q.hello {
			hello := append(bson.D{{Key: "ok", Value: 1}}, mongos()...)
			if len(services) > 0 {
				hello = append(hello, bson.E{Key: "serviceId", Value: services[(q.dialed-1)%len(services)]})
			}
			q.answer(hello)
		}
		return q.hello
	}
	c := start(t, network{addrA: p}, func(cfg *Config) {
		cfg.Topology.LoadBalanced, cfg.Handshake.LoadBalanced = true, true
		if l != nil {
			cfg.PoolMonitor = l.monitor()
		}
	})
	return c, p
}

// Source: Load Balancer specification, "Connection Pool Generations".
func TestEachServiceBehindALoadBalancerHasItsOwnGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := bson.NewObjectID(), bson.NewObjectID()
		l := newListener()
		c, _ := balanced(t, l, one, two)
		s := selected(t, c)
		first, second := checkOut(t, s), checkOut(t, s)
		if first.service != one || second.service != two {
			t.Fatalf("services %v and %v", first.service, second.service)
		}
		third, fourth := checkOut(t, s), checkOut(t, s)
		s.CheckIn(fourth) // of the second service
		s.CheckIn(third)  // of the first, idle when its service fails
		counters(t, s, 4, 2, 0)

		c.ConnectionFailed(s, first, &IOError{Stage: retry.StageInFlight, Err: syscall.ECONNRESET})
		counters(t, s, 3, 1, 0)
		if kindOf(c, addrA) != topology.LoadBalancer {
			t.Errorf("the load balancer is %v now", kindOf(c, addrA))
		}
		s.CheckIn(second)

		// A failure of a stale connection changes nothing.
		c.ConnectionFailed(s, first, &IOError{Stage: retry.StageInFlight, Err: syscall.ECONNRESET})
		if n := s.pool.generation(one); n != 1 {
			t.Errorf("the first service's generation is %d, want 1", n)
		}
		s.CheckIn(first)
		counters(t, s, 2, 2, 0)

		events, _ := l.all()
		cleared := slices.IndexFunc(events, func(e event.PoolEvent) bool { return e.Type == event.ConnectionPoolCleared })
		if cleared < 0 || events[cleared].ServiceID == nil || *events[cleared].ServiceID != one {
			t.Errorf("events %v: want PoolCleared with the first service", events)
		}

		fifth := checkOut(t, s)
		if fifth.service != two {
			t.Errorf("an idle connection of service %v is used", fifth.service)
		}
		s.CheckIn(fifth)
	})
}

func TestALoadBalancerIsSelectableImmediatelyAndNeverChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := balanced(t, nil, bson.NewObjectID())
		if err := operation(t.Context(), selectedNow(t, c)); err != nil {
			t.Fatal(err)
		}
		pass(t, 10*c.cfg.HeartbeatInterval)
		if n := p.hellos(); n != 1 {
			t.Errorf("%d hellos were sent, want 1, that of the connection's handshake", n)
		}
	})
}

func TestAServerWithoutAServiceIDFailsTheHandshakeBehindALoadBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := balanced(t, nil)
		_, err := selected(t, c).CheckOut(t.Context(), nil)
		if !errors.Is(err, errNoService) {
			t.Errorf("error %v", err)
		}
	})
}

// Load Balancer specification, "Connection Tracking".
func TestTheErrorOfAnExhaustedPoolBehindALoadBalancerIsTheDetailedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := balanced(t, nil, bson.NewObjectID())
		c.cfg.MaxPoolSize = 1
		s := selected(t, c)
		defer s.CheckIn(checkOut(t, s))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		const want = "Timeout waiting for connection from the connection pool. maxPoolSize: 1, connections in use by cursors: 0, " +
			"connections in use by transactions: 0, connections in use by other operations: 1"
		if _, err := s.CheckOut(ctx, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	})
}

func TestAServiceOfAClosedPoolIsNotCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener()
		service := bson.NewObjectID()
		c, _ := balanced(t, l, service)
		s := selected(t, c)
		c.Close()
		s.pool.clearService(service, errDown).run()
		if events := l.types(); contains(events, event.ConnectionPoolCleared) || s.pool.generation(service) != 0 {
			t.Errorf("events %v, generation %d", events, s.pool.generation(service))
		}
	})
}

func TestANewConnectionHasTheGenerationOfItsService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := bson.NewObjectID()
		c, _ := balanced(t, nil, service)
		s := selected(t, c)
		old := checkOut(t, s)
		s.pool.clearService(service, errDown).run()
		s.CheckIn(checkOut(t, s))
		counters(t, s, 2, 1, 0)
		s.CheckIn(old)
		counters(t, s, 1, 1, 0)
	})
}

// Load Balancer specification, "Initial Handshake Errors": "Once the initial handshake is complete, the connection MUST
// determine its generation number based on the serviceId field in the handshake response." The login comes later.
func TestAConnectionIsStaleIfItsServiceIsClearedDuringItsLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, answer := bson.NewObjectID(), make(chan struct{})
		c, p := balanced(t, nil, service)
		plainLogin(t)(&c.cfg)
		s := selected(t, c)
		hello := p.script
		p.set(func(p *peer) {
			p.script = func(q *question) bool {
				if !q.hello {
					<-answer
					loggedIn(q)
					return true
				}
				return hello(q)
			}
		})
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the login", connecting)
		s.pool.clearService(service, errDown).run()
		close(answer)
		if err := settled(t, "the login", connecting); err != nil {
			t.Error(err)
		}
		counters(t, s, 0, 0, 0)
	})
}

// Connection Monitoring and Pooling, "Load Balancer Mode": "The pool MUST remove the entry for a serviceId once the
// connection count reaches 0."
func TestTheGenerationOfAServiceWithoutConnectionsIsForgotten(t *testing.T) {
	type deployment struct {
		*testing.T
		s       *Server
		p       *peer
		service bson.ObjectID
	}
	forgotten := func(d *deployment) {
		d.Helper()
		synctest.Wait()
		d.s.pool.mu.Lock()
		defer d.s.pool.mu.Unlock()
		if n := len(d.s.pool.generations.services); n != 0 {
			d.Errorf("%d services are remembered", n)
		}
	}
	for _, c := range []struct {
		name string
		do   func(d *deployment)
	}{
		{"after the check in of its last connection", func(d *deployment) {
			conn := checkOut(d.T, d.s)
			d.s.pool.clearService(d.service, errDown).run()
			d.s.CheckIn(conn)
		}},
		{"after its idle connections were closed", func(d *deployment) {
			d.s.CheckIn(checkOut(d.T, d.s))
			d.s.pool.clearService(d.service, errDown).run()
		}},
		{"after a failed login", func(d *deployment) {
			plainLogin(d.T)(&d.s.cluster.cfg)
			answers := d.p.script
			d.p.set(func(p *peer) {
				p.script = func(q *question) bool {
					if !q.hello {
						loginRefused(18)(q)
					}
					return !q.hello || answers(q)
				}
			})
			if err := operation(d.Context(), d.s); err == nil {
				d.Error("the login succeeds")
			}
		}},
		{"after a login that the pool has cancelled", func(d *deployment) {
			plainLogin(d.T)(&d.s.cluster.cfg)
			answers := d.p.script
			d.p.set(func(p *peer) { p.script = func(q *question) bool { return !q.hello || answers(q) } })
			connecting := async(func() error { return operation(d.Context(), d.s) })
			unsettled(d.T, "the login", connecting)
			d.s.pool.interruptAll()
			if err := settled(d.T, "the login", connecting); err == nil {
				d.Error("the login succeeds")
			}
		}},
		{"after a connection that was ready when the pool had cancelled it", func(d *deployment) {
			ready := newGate(event.ConnectionReady)
			d.s.cluster.pooled = poolMonitored(ready.monitor()).Pool
			connecting := async(func() error { return operation(d.Context(), d.s) })
			unsettled(d.T, "connecting", connecting)
			d.s.pool.interruptAll()
			close(ready.opened)
			if err := settled(d.T, "connecting", connecting); err == nil {
				d.Error("the connection can be used")
			}
		}},
		{"when it is cleared without connections", func(d *deployment) {
			d.s.pool.clearService(d.service, errDown).run()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deployment{T: t, service: bson.NewObjectID()}
				var cluster *Cluster
				cluster, d.p = balanced(t, nil, d.service)
				d.s = selected(t, cluster)
				c.do(d)
				forgotten(d)
			})
		})
	}
}

// Connection Monitoring and Pooling, "Clearing a Connection Pool": "the load balanced pool clearing behavior MUST NOT be used in
// non-load balanced pools", whatever a server says in its hello.
func TestAServiceIDWithoutALoadBalancerHasNoMeaning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hello := append(standalone(), bson.E{Key: "serviceId", Value: bson.NewObjectID()})
		s := bare(t, &peer{hello: hello}, nil)
		found(t, s, hello)
		used := checkOut(t, s)
		s.cluster.ConnectionFailed(s, used, &IOError{Stage: retry.StageInFlight, Err: syscall.ECONNRESET})
		if s.pool.state != paused || used.ServiceID() != nil {
			t.Errorf("the pool is in state %v, the service is %v", s.pool.state, used.ServiceID())
		}
		s.CheckIn(used)
		counters(t, s, 0, 0, 0)
	})
}

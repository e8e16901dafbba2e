package cluster

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

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
		s.CheckIn(first)
		counters(t, s, 2, 2, 0)

		events, _ := l.all()
		cleared := slices.IndexFunc(events, func(e event.PoolEvent) bool { return e.Type == event.ConnectionPoolCleared })
		if cleared < 0 || events[cleared].ServiceID == nil || *events[cleared].ServiceID != one {
			t.Errorf("events %v: want PoolCleared with the first service", events)
		}

		// A failure of a stale connection changes nothing.
		c.ConnectionFailed(s, first, &IOError{Stage: retry.StageInFlight, Err: syscall.ECONNRESET})
		if n := s.pool.generation(one); n != 1 {
			t.Errorf("the first service's generation is %d, want 1", n)
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
		_, err := selected(t, c).CheckOut(t.Context())
		if !errors.Is(err, errNoService) {
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
		s.pool.clearService(service, errDown).run()
		s.CheckIn(checkOut(t, s))
		counters(t, s, 1, 1, 0)
	})
}

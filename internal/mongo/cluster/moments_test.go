package cluster

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// late is a Dialer whose connections call a function after a reply has arrived and before Read returns it.
type late struct {
	network
	happens atomic.Pointer[func()]
}

// next makes the next Read call f.
func (l *late) next(f func()) { l.happens.Store(&f) }

func (l *late) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := l.network.DialContext(ctx, network, address)
	return &lateConn{nc, l}, err
}

type lateConn struct {
	net.Conn
	*late
}

func (c *lateConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if happens := c.happens.Swap(nil); n > 0 && happens != nil {
		(*happens)()
	}
	return n, err
}

func lateServer(t *testing.T) (*late, *Server) {
	d := &late{network: network{addrA: {hello: standalone()}}}
	s := bareOn(t, Config{Dialer: d, Topology: topology.Config{Seeds: []string{addrA}}})
	found(t, s, standalone())
	return d, s
}

// lateCluster is lateServer with a monitor.
func lateCluster(t *testing.T) (*late, *Cluster, *Server) {
	t.Helper()
	d := &late{network: network{addrA: {hello: standalone()}}}
	c, err := New(Config{Dialer: d, Topology: topology.Config{Seeds: []string{addrA}}})
	if err != nil {
		t.Fatal(err)
	}
	return d, c, selected(t, c)
}

func TestAContextThatEndsWhenTheReplyArrivesDoesNotLoseTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := lateServer(t)
		c := checkOut(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		d.next(cancel)
		if err := ping(ctx, c); err != nil {
			t.Errorf("the reply is lost: %v", err)
		}
		s.CheckIn(c)
		counters(t, s, 1, 1, 0)
		if err := operation(t.Context(), s); err != nil {
			t.Errorf("the next operation on the connection: %v", err)
		}
	})
}

func TestAContextThatEndsWhenHelloIsAnsweredFailsTheCheckoutOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := lateServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		d.next(func() {
			cancel()
			sleep(t.Context(), time.Millisecond, nil) // the checkout ends before the connection is ready
		})
		if _, err := s.CheckOut(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		pass(t, time.Second)
		counters(t, s, 1, 1, 0)
	})
}

func TestATimeoutWhenACheckIsAnsweredChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c, s := lateCluster(t)
		defer c.Close()
		synctest.Wait()
		d.next(func() { sleep(t.Context(), c.cfg.ConnectTimeout+1, nil) })
		pass(t, c.cfg.HeartbeatInterval+c.cfg.ConnectTimeout+1)
		pass(t, c.cfg.HeartbeatInterval)
		if kindOf(c, addrA) != topology.Standalone || s.pool.generation(bson.NilObjectID) != 0 || d.network[addrA].dialed != 1 {
			t.Errorf("the server is %v, after %d connections", kindOf(c, addrA), d.network[addrA].dialed)
		}
	})
}

// A reply that breaks the protocol is no late one.
func TestAContextThatEndsWhenAWrongReplyArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := lateServer(t)
		c := checkOut(t, s)
		d.network[addrA].set(func(p *peer) {
			p.script = func(q *question) bool {
				right := q.reply(bson.D{{Key: "ok", Value: 1}})
				q.header.RequestID++
				q.answer(bson.D{{Key: "ok", Value: 1}})
				sleep(t.Context(), time.Millisecond, nil)
				q.conn.Write(right)
				return true
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		d.next(cancel)
		if ping(ctx, c) == nil {
			t.Error("the reply to another request was accepted")
		}
		s.CheckIn(c)
		pass(t, time.Second)
		counters(t, s, 0, 0, 0)
	})
}

// Server Monitoring: cancelling a check closes its connection.
func TestACheckThatIsCancelledWhenItIsAnsweredLosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c, s := lateCluster(t)
		defer c.Close()
		d.next(s.cancelCheck)
		pass(t, c.cfg.HeartbeatInterval)
		pass(t, c.cfg.HeartbeatInterval)
		if kindOf(c, addrA) != topology.Standalone || d.network[addrA].dialed != 2 {
			t.Errorf("the server is %v, after %d connections", kindOf(c, addrA), d.network[addrA].dialed)
		}
	})
}

func TestAnInterruptedConnectionIsClosedAtCheckIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		c := checkOut(t, s)
		s.cluster.Interrupt()
		s.CheckIn(c)
		counters(t, s, 0, 0, 0)
	})
}

//go:build unix

package cluster

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// tcpPeer is a server on a real TCP address that answers every message. It also returns the accepted connections.
func tcpPeer(t *testing.T) (string, <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- nc
			go answerAll(nc)
		}
	}()
	return l.Addr().String(), accepted
}

func answerAll(nc net.Conn) {
	defer nc.Close()
	body, _ := bson.Marshal(append(bson.D{{Key: "ok", Value: 1}}, standalone()...))
	for {
		message, err := wire.ReadMessage(nc, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		h, _ := wire.ParseHeader(message)
		if _, err := nc.Write(msg(h.RequestID, body)); err != nil {
			return
		}
	}
}

func TestAnIdleConnectionIsCheckedBeforeItIsUsedAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		during func(net.Conn)
		idle   time.Duration
		kept   bool
	}{
		{"an open connection is kept", nil, 2 * time.Second, true},
		{"a connection idle for less than a second is not checked", func(nc net.Conn) { nc.Close() }, 0, true},
		{"a connection that the peer closed is discarded", func(nc net.Conn) { nc.Close() }, 2 * time.Second, false},
		{"a connection that the peer reset is discarded", func(nc net.Conn) {
			_ = nc.(*net.TCPConn).SetLinger(0)
			nc.Close()
		}, 2 * time.Second, false},
		{"a connection with unread bytes is discarded", func(nc net.Conn) { nc.Write([]byte{0}) }, 2 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, accepted := tcpPeer(t)
			s := bareOn(t, Config{Topology: topology.Config{Seeds: []string{address}}})
			found(t, s, standalone())
			if err := operation(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			conn := s.pool.own.idle[0]
			if c.during != nil {
				c.during(<-accepted)
				untilDisturbed(t, conn)
			}
			conn.lastUsed = time.Now().Add(-c.idle)
			next := checkOut(t, s)
			if (next == conn) != c.kept {
				t.Errorf("connection %d is used", next.ID())
			}
			s.CheckIn(next)
			counters(t, s, 1, 1, 0)
		})
	}
}

// A socket whose deadline has passed cannot be checked.
func TestTheDeadlineOfTheLastOperationDoesNotCloseAnIdleConnection(t *testing.T) {
	address, _ := tcpPeer(t)
	s := bareOn(t, Config{Topology: topology.Config{Seeds: []string{address}}})
	found(t, s, standalone())
	if err := operation(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	conn := s.pool.own.idle[0]
	conn.setDeadline(past) // that of an operation which was short enough to leave one
	conn.lastUsed = time.Now().Add(-2 * idleProbeAfter)
	next := checkOut(t, s)
	if next != conn {
		t.Errorf("connection %d is used", next.ID())
	}
	s.CheckIn(next)
}

// untilDisturbed waits until the check of an idle connection notices the peer's action.
func untilDisturbed(t *testing.T, c *Conn) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); openAndSilent(c.nc); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatal("the connection is still open and silent")
		}
	}
}

// The peer closes its connections and accepts new ones, so only the idle check can notice it.
func TestADeadIdleConnectionRequestsACheck(t *testing.T) {
	heard := newListener()
	address, accepted := tcpPeer(t)
	s := bareOn(t, Config{Topology: topology.Config{Seeds: []string{address}}, PoolMonitor: heard.monitor()})
	found(t, s, standalone())
	if err := operation(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	conn := s.pool.own.idle[0]
	(<-accepted).Close()
	untilDisturbed(t, conn)
	conn.lastUsed = time.Now().Add(-2 * time.Second)
	if err := operation(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if len(s.check) != 1 {
		t.Error("no check is requested")
	}
	events, _ := heard.all()
	for _, e := range events {
		if e.Type == event.ConnectionClosed && (e.ConnectionID != conn.id || e.Reason != event.ReasonError) {
			t.Errorf("connection %d is closed because of %q", e.ConnectionID, e.Reason)
		}
	}
}

func TestAnOperationWithTheDefaultDialer(t *testing.T) {
	address, _ := tcpPeer(t)
	c, err := New(Config{Topology: topology.Config{Seeds: []string{address}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := operation(t.Context(), selectedNow(t, c)); err != nil {
		t.Error(err)
	}
}

// disturbed is a connection that the kernel cannot look at.
type disturbed struct{ net.Conn }

func (*disturbed) SyscallConn() (syscall.RawConn, error) { return nil, syscall.EINVAL }
func (*disturbed) Read([]byte) (int, error)              { return 0, io.EOF }
func (*disturbed) Write([]byte) (int, error)             { return 0, syscall.EPIPE }
func (*disturbed) Close() error                          { return nil }
func (*disturbed) SetDeadline(time.Time) error           { return nil }

func TestAConnectionThatCannotBeLookedAtIsNotUsed(t *testing.T) {
	if openAndSilent(&disturbed{}) {
		t.Error("a connection without a file is quiet")
	}
	client, server := memnet.Pipe()
	defer server.Close()
	if !openAndSilent(client) {
		t.Error("a connection that is no socket is not quiet")
	}
}

// layer is a connection that shows the one below, as TLS does.
type layer struct{ below net.Conn }

func (l layer) NetConn() net.Conn { return l.below }

func TestAConnectionIsCheckedBelowAllItsLayers(t *testing.T) {
	type layered struct {
		net.Conn
		layer
	}
	client, server := memnet.Pipe()
	nc := layered{client, layer{layered{client, layer{client}}}}
	if !openAndSilent(nc) {
		t.Error("an open connection is said to be closed")
	}
	server.Close()
	if openAndSilent(nc) {
		t.Error("a closed connection is said to be open")
	}
}

// A connection that rested for a second is looked at; one that rested for less is taken as it is.
func TestWhenAConnectionIsLookedAt(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		rest time.Duration
		want bool
	}{{time.Second - 1, true}, {time.Second, false}} {
		conn := newConn(&disturbed{}, 1, addrA)
		conn.lastUsed = now.Add(-c.rest)
		if conn.usable(now) != c.want {
			t.Errorf("after %v a closed connection is usable: %v", c.rest, !c.want)
		}
	}
}

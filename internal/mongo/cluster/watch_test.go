package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// connected returns a connection of the application to a peer, with its server.
func connected(t *testing.T, p *peer) (*Conn, *Server) {
	t.Helper()
	s := bare(t, p, nil)
	found(t, s, standalone())
	return checkOut(t, s), s
}

// The promise is 5 ms.
func TestACancelledReadEndsWithinTheWatchDelay(t *testing.T) {
	ages := []time.Duration{0, 1, leastWatchDelay, watchDelay / 2, watchDelay - 1, watchDelay, watchDelay + 1, time.Second}
	for _, age := range ages {
		for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(age, cancel)
				return ctx, cancel
			},
			"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, age) },
		} {
			t.Run(name+" after "+age.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &peer{hello: standalone()}
					c, s := connected(t, p)
					defer s.CheckIn(c)
					p.hang()
					ctx, cancel := end(t.Context())
					defer cancel()
					began := time.Now()
					err := ping(ctx, c)
					most := max(age, watchDelay)
					if name == "deadline" && age <= watchDelay {
						most = age
					}
					if took := time.Since(began); took < age || took > most {
						t.Errorf("it ended after %v", took)
					}
					if !errors.Is(err, ctx.Err()) {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestAReplyLaterThanTheWatchDelayIsRead(t *testing.T) {
	for _, delay := range []time.Duration{watchDelay - 1, watchDelay, watchDelay + 1, time.Minute} {
		t.Run(delay.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: standalone()}
				c, s := connected(t, p)
				p.set(func(p *peer) {
					p.script = func(q *question) bool {
						reply := q.reply(bson.D{{Key: "ok", Value: 1}})
						q.conn.Write(reply[:5]) // the rest comes after the deadline of the socket
						sleep(context.Background(), delay, nil)
						q.conn.Write(reply[5:])
						return true
					}
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for range 3 {
					if err := ping(ctx, c); err != nil {
						t.Fatal(err)
					}
				}
				if err := ping(context.Background(), c); err != nil {
					t.Errorf("without a context that can end: %v", err)
				}
				s.CheckIn(c)
				pass(t, 2*idleProbeAfter)
				if next := checkOut(t, s); next != c {
					t.Error("the connection was discarded after it was idle")
				} else {
					s.CheckIn(next)
				}
			})
		})
	}
}

// deadlines counts how often the deadline of a connection is set.
type deadlines struct {
	*memnet.Conn
	set int
}

func (d *deadlines) SetDeadline(t time.Time) error {
	d.set++
	return d.Conn.SetDeadline(t)
}

// Setting a deadline for each operation would cost a thousand instructions.
func TestManyOperationsShareADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := memnet.Pipe()
		defer client.Close()
		counting := &deadlines{Conn: client}
		c := newConn(counting, 1, addrA)
		c.lazy = true
		const took = 100 * time.Microsecond
		go func() {
			for {
				if _, err := wire.ReadMessage(server, nil, wire.MaxMessageLength); err != nil {
					return
				}
				sleep(context.Background(), took, nil)
				server.Write(msg(7, []byte{5, 0, 0, 0, 0}))
			}
		}()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 300 { // 30 ms
			if err := ping(ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		if want := int(300 * took / (watchDelay - leastWatchDelay)); counting.set > want+1 || counting.set < want/2 {
			t.Errorf("the deadline was set %d times, want about %d", counting.set, want)
		}
		c.clearDeadline()
		for range 10 {
			c.clearDeadline()
		}
		before := counting.set
		if err := ping(context.Background(), c); err != nil || counting.set != before {
			t.Errorf("without a deadline it was set %d times, %v", counting.set-before, err)
		}
	})
}

// large is a message that does not fit in the network's buffers.
func large() []byte {
	at, b := wire.BeginMsg(nil, 7, 0, 0)
	doc, b := wire.BeginDocument(b)
	b = wire.AppendString(b, "ping", string(make([]byte, 6<<20)))
	return wire.EndMessage(wire.EndDocument(b, doc), at)
}

func TestAWriteThatBlocks(t *testing.T) {
	answering := func(t *testing.T, server *memnet.Conn, after time.Duration) {
		go func() {
			sleep(t.Context(), after, nil)
			if _, err := wire.ReadMessage(server, nil, wire.MaxMessageLength); err == nil {
				server.Write(msg(7, []byte{5, 0, 0, 0, 0}))
			}
		}()
	}
	synctest.Test(t, func(t *testing.T) {
		client, server := memnet.Pipe()
		defer client.Close()
		c := newConn(client, 1, addrA)
		c.lazy = true
		answering(t, server, time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := c.RoundTrip(ctx, large(), 7); err != nil {
			t.Errorf("the peer reads after a second: %v", err)
		}
		began := time.Now()
		_, err := c.RoundTrip(ctx, large(), 7)
		wantBroken(t, c, err, retry.StageInFlight, context.DeadlineExceeded)
		if took := time.Since(began); took != time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestAnInterruptionEndsAReadAtOnce(t *testing.T) {
	for _, age := range []time.Duration{1, watchDelay / 2, watchDelay, time.Second} { // the clock goes on when the message was written
		t.Run(age.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: standalone()}
				c, s := connected(t, p)
				defer s.CheckIn(c)
				p.hang()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(age, func() { c.interrupt(ErrDisconnected) })
				began := time.Now()
				err := ping(ctx, c)
				wantBroken(t, c, err, retry.StageInFlight, ErrDisconnected)
				if took := time.Since(began); took != age {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}

func TestAnInterruptionIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c, s := connected(t, p)
		defer s.CheckIn(c)
		p.hang()
		c.interrupt(ErrDisconnected)
		for _, ctx := range []context.Context{t.Context(), context.Background()} {
			began := time.Now()
			if err := ping(ctx, c); !errors.Is(err, ErrDisconnected) || time.Since(began) != 0 {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
	})
}

// wrapped is a connection that an application has put around another one.
type wrapped struct{ net.Conn }

func TestWhichConnectionsGoOnAfterTheirDeadline(t *testing.T) {
	inMemory, other := memnet.Pipe()
	defer inMemory.Close()
	defer other.Close()
	for _, c := range []struct {
		name string
		nc   any
		want bool
	}{
		{"a socket", &net.TCPConn{}, true},
		{"a Unix domain socket", &net.UnixConn{}, true},
		{"a connection in memory", inMemory, true},
		{"TLS", tls.Client(inMemory, &tls.Config{ServerName: "a"}), false},
		{"a connection of the application's own", wrapped{inMemory}, false},
	} {
		if isPlain(c.nc) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}

func TestOnlyAPlainConnectionIsWatchedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := connected(t, &peer{hello: standalone()})
		defer s.CheckIn(c)
		if !c.lazy {
			t.Error("a plain connection is watched at once")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d, s := lateServer(t) // its connections are the application's own
		c := checkOut(t, s)
		defer s.CheckIn(c)
		d.network[addrA].hang()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(watchDelay/2, cancel)
		began := time.Now()
		if err := ping(ctx, c); !errors.Is(err, context.Canceled) || time.Since(began) != watchDelay/2 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

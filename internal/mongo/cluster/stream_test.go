package cluster

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// streamer is a scripted server that streams its hellos.
type streamer struct {
	ctx context.Context
	peer
	silent  atomic.Bool
	once    bool // the server sends one reply to each awaitable hello (no moreToCome)
	changed chan struct{}
	version int64
	process bson.ObjectID
	asks    []bson.Raw // the awaitable hellos
	flags   []wire.MsgFlags
	plain   int // the other hellos that are not handshakes
	mu      sync.Mutex
}

func newStreamer(t *testing.T) *streamer {
	s := &streamer{ctx: t.Context(), changed: make(chan struct{}), process: bson.NewObjectID()}
	s.hello = s.current(standalone())
	s.script = s.answer
	return s
}

// current returns a hello with the server's topologyVersion.
func (s *streamer) current(hello bson.D) bson.D {
	return append(slices.Clone(hello), bson.E{Key: "topologyVersion", Value: bson.D{
		{Key: "processId", Value: s.process}, {Key: "counter", Value: s.version},
	}})
}

// become changes the server: its streams send the new hello at once.
func (s *streamer) become(hello bson.D) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.set(func(p *peer) { p.hello = s.current(hello) })
	close(s.changed)
	s.changed = make(chan struct{})
}

// repeat makes the server's streams send the hello that it has, at once.
func (s *streamer) repeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *streamer) answer(q *question) bool {
	m, err := wire.ParseMsg(q.message)
	body := bson.Raw(m.Body)
	_, awaits := body.Lookup("maxAwaitTimeMS").Int64OK()
	if err != nil || !awaits {
		if q.hello && !q.handshake {
			s.mu.Lock()
			s.plain++
			s.mu.Unlock()
		}
		return false
	}
	s.mu.Lock()
	s.asks, s.flags = append(s.asks, slices.Clone(body)), append(s.flags, m.Flags)
	s.mu.Unlock()
	go s.stream(q, time.Duration(body.Lookup("maxAwaitTimeMS").Int64())*time.Millisecond)
	return true
}

// stream sends a hello after each change, and after each await.
func (s *streamer) stream(q *question, await time.Duration) {
	to := q.header.RequestID
	for id := int32(1000); ; id++ {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if !sleep(s.ctx, await, changed) || s.silent.Load() {
			return
		}
		s.peer.mu.Lock()
		hello := append(bson.D{{Key: "ok", Value: 1}}, s.hello...)
		s.peer.mu.Unlock()
		body, _ := bson.Marshal(hello)
		flags := wire.MoreToCome
		if s.once {
			flags = 0
		}
		at, b := wire.BeginMsg(nil, id, to, flags)
		if _, err := q.conn.Write(wire.EndMessage(append(b, body...), at)); err != nil || s.once {
			return
		}
		to = id
	}
}

// counts returns the numbers of hellos when all goroutines are blocked.
func (s *streamer) counts() (awaitable, plain int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asks), s.plain
}

func streaming(cfg *Config) { cfg.Streaming = true }

func TestAStreamTellsAChangeAtOnce(t *testing.T) {
	for name, once := range map[string]bool{"with moreToCome": false, "one reply to each hello": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreamer(t)
				s.once = once
				c := start(t, network{addrA: &s.peer}, streaming)
				pass(t, 7*time.Second)
				s.become(member(true, addrA))
				synctest.Wait()
				if kindOf(c, addrA) != topology.RSPrimary {
					t.Errorf("the server is %v", kindOf(c, addrA))
				}
				s.become(member(false, addrA))
				synctest.Wait()
				if kindOf(c, addrA) != topology.RSSecondary {
					t.Errorf("the server is %v", kindOf(c, addrA))
				}
				want := map[bool]int{false: 1, true: 3}[once]
				if got, _ := s.counts(); got != want {
					t.Errorf("%d awaitable hellos, want %d", got, want)
				}
			})
		})
	}
}

// Server Monitoring, "Streaming Protocol": while moreToCome is set, the client reads the next reply at once.
func TestAStreamIsReadOnAfterAHelloThatCameEarlyWithoutAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		pass(t, time.Second)
		s.repeat()
		synctest.Wait()
		s.become(member(true, addrA))
		synctest.Wait()
		if kindOf(c, addrA) != topology.RSPrimary {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
	})
}

func TestAnAwaitableHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		start(t, network{addrA: &s.peer}, func(cfg *Config) { cfg.Streaming, cfg.HeartbeatInterval = true, 3*time.Second })
		synctest.Wait()
		ask := s.asks[0]
		if got := ask.Lookup("maxAwaitTimeMS").Int64(); got != 3000 {
			t.Errorf("maxAwaitTimeMS is %d, heartbeatFrequencyMS is 3000", got)
		}
		v := topology.ParseTopologyVersion(ask.Lookup("topologyVersion").Document())
		if v == nil || v.ProcessID != s.process || v.Counter != 0 {
			t.Errorf("topologyVersion is %v", v)
		}
		if s.flags[0]&wire.ExhaustAllowed == 0 {
			t.Error("the flag exhaustAllowed is not set")
		}
	})
}

// The deadline is connectTimeoutMS + heartbeatFrequencyMS. With connectTimeoutMS=0, which package mongo turns into a very
// long time, there is none.
func TestASilentStreamEndsAfterConnectTimeoutAndHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, func(cfg *Config) { cfg.Streaming, cfg.ConnectTimeout = true, 2*time.Second })
		synctest.Wait()
		s.silent.Store(true)
		s.set(func(p *peer) { p.script = func(*question) bool { return true } })
		pass(t, 12*time.Second-1)
		if kindOf(c, addrA) != topology.Standalone {
			t.Errorf("the server is %v before the time", kindOf(c, addrA))
		}
		pass(t, 1)
		if kindOf(c, addrA) != topology.Unknown {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
	})
}

// Server Monitoring, "Socket timeout": "clients MUST use connectTimeoutMS + heartbeatFrequencyMS as the timeout for awaitable
// hello". The sum of two long times must not be a short one.
func TestAStreamWithTheLongestTimesGoesOn(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"connectTimeoutMS":     func(cfg *Config) { cfg.ConnectTimeout = math.MaxInt64 },
		"heartbeatFrequencyMS": func(cfg *Config) { cfg.HeartbeatInterval = math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreamer(t)
				c := start(t, network{addrA: &s.peer}, func(cfg *Config) { cfg.Streaming = true; edit(cfg) })
				pass(t, time.Minute)
				if s.dials() != 2 || kindOf(c, addrA) != topology.Standalone { // the stream and the measuring of round trip times
					t.Errorf("%d connections, the server is %v", s.dials(), kindOf(c, addrA))
				}
			})
		})
	}
}

func TestNoStreamWhere(t *testing.T) {
	for name, c := range map[string]struct {
		hello func(*streamer) bson.D
		mode  bool
	}{
		"the mode is poll":                  {func(s *streamer) bson.D { return s.current(standalone()) }, false},
		"the server has no topologyVersion": {func(*streamer) bson.D { return standalone() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreamer(t)
				s.hello = c.hello(s)
				start(t, network{addrA: &s.peer}, func(cfg *Config) { cfg.Streaming = c.mode })
				pass(t, 25*time.Second)
				if awaitable, _ := s.counts(); awaitable != 0 || s.hellos() != 3 || s.dials() != 1 {
					t.Errorf("%d awaitable hellos of %d, %d connections", awaitable, s.hellos(), s.dials())
				}
			})
		})
	}
}

// Only while hellos are streamed there is a second connection, and its hello is sent at every heartbeat.
func TestTheRoundTripTimeIsMeasuredOnAConnectionOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		start(t, network{addrA: &s.peer}, streaming)
		pass(t, 35*time.Second)
		if _, plain := s.counts(); plain != 3 || s.dials() != 2 {
			t.Errorf("%d hellos on %d connections, want 3 after the handshakes of 2", plain, s.dials())
		}
		s.version = 0
		s.set(func(p *peer) { p.hello = standalone() }) // as if an older version was installed
		s.set(func(p *peer) {
			for _, nc := range p.conns {
				nc.CloseWrite()
			}
		})
		pass(t, 40*time.Second)
		s.set(func(p *peer) {
			if p.open != 1 {
				t.Errorf("%d connections are open without a stream, want 1", p.open)
			}
		})
	})
}

// The connection is idle until the next heartbeat.
func TestTheConnectionThatMeasuresRoundTripTimesKeepsNoBuffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		m := &rttMonitor{server: s}
		defer m.drop()
		for range 2 { // after the handshake, and after a hello
			m.beat(t.Context())
			if conn := m.conn; conn.Out != nil || conn.hello != nil || cap(conn.in.bytes) > 0 {
				t.Errorf("%d, %d and %d bytes", cap(conn.Out), cap(conn.hello), cap(conn.in.bytes))
			}
		}
	})
}

func TestTheTimeOfAStreamedHelloIsNoRoundTripTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		answer := s.script
		s.script = func(q *question) bool {
			if q.hello {
				sleep(context.Background(), 20*time.Millisecond, nil)
			}
			return answer(q)
		}
		c := start(t, network{addrA: &s.peer}, streaming)
		pass(t, 35*time.Second)
		d := c.Snapshot().Description.Servers[0]
		if d.RTT != 20*time.Millisecond || d.MinRTT != 20*time.Millisecond {
			t.Errorf("the average is %v, the minimum %v; want 20ms", d.RTT, d.MinRTT)
		}
	})
}

// Errors of the connection that measures must not change the topology.
func TestAnErrorOfTheRoundTripMeasurementIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		synctest.Wait()
		before := c.Snapshot().Description.Servers[0].RTT
		s.set(func(p *peer) { p.conns[1].CloseWrite() })
		pass(t, 21*time.Second)
		if kindOf(c, addrA) != topology.Standalone || c.Snapshot().Description.Servers[0].RTT != before {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
		if s.dials() != 3 {
			t.Errorf("%d connections, want a third one for the measurement", s.dials())
		}
	})
}

func TestABrokenStreamIsReplacedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		var got changes
		c := start(t, network{addrA: &s.peer}, func(cfg *Config) {
			streaming(cfg)
			got.listen(cfg)
		})
		pass(t, 4*time.Second)
		s.set(func(p *peer) { p.conns[0].CloseWrite() })
		synctest.Wait()
		if kindOf(c, addrA) != topology.Standalone || !slices.Contains(got, "a Standalone -> a Unknown") {
			t.Errorf("the server is %v after %q", kindOf(c, addrA), got)
		}
		synctest.Wait()
		if n, _ := s.counts(); n != 2 {
			t.Errorf("%d streams were begun, want 2", n)
		}
	})
}

func TestAStreamOfADeadServerMakesItUnknownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		pass(t, 4*time.Second)
		s.down(syscall.ECONNREFUSED)
		synctest.Wait()
		if kindOf(c, addrA) != topology.Unknown {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
	})
}

// A reply with "ok: 0" ends the stream. The check after it is not immediate.
func TestAnErrorReplyEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		pass(t, 4*time.Second)
		s.become(bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: 91}, {Key: "errmsg", Value: "shutting down"}})
		synctest.Wait()
		if d := c.Snapshot().Description.Servers[0]; d.Known() || d.Error == nil {
			t.Errorf("the server is %v, error %v", d.Type, d.Error)
		}
		dialed := s.dials()
		s.become(standalone())
		pass(t, 9*time.Second)
		if s.dials() != dialed {
			t.Error("it was checked before the heartbeat")
		}
		pass(t, time.Second)
		if kindOf(c, addrA) != topology.Standalone {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
	})
}

func TestANetworkErrorOfAnOperationCancelsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		server := selected(t, c)
		conn := checkOut(t, server)
		pass(t, 3*time.Second)
		lost(c, server, conn)
		began := time.Now()
		selected(t, c)
		if took := time.Since(began); took != 0 {
			t.Errorf("the server was selectable again after %v", took)
		}
		synctest.Wait()
		if n, _ := s.counts(); n != 2 {
			t.Errorf("%d streams were begun, want 2", n)
		}
	})
}

// The primary does not know yet that it is none any more: its stream would tell nothing.
func TestAStreamOfAStalePrimaryBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newStreamer(t), newStreamer(t)
		a.hello = a.current(elected(true, 1, addrA, addrB))
		b.hello = b.current(member(false, addrA, addrB))
		c := start(t, network{addrA: &a.peer, addrB: &b.peer}, streaming)
		pass(t, 3*time.Second)
		a.set(func(p *peer) { p.hello = a.current(member(false, addrA, addrB)) }) // without a word to the stream
		b.become(elected(true, 2, addrA, addrB))
		synctest.Wait()
		if kindOf(c, addrA) != topology.RSSecondary || kindOf(c, addrB) != topology.RSPrimary {
			t.Errorf("a is %v, b is %v", kindOf(c, addrA), kindOf(c, addrB))
		}
	})
}

// A state change error without a topologyVersion makes the server Unknown. The stream does not tell that it is fine.
func TestAStreamBeginsAgainAfterAStateChangeErrorWithoutVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		server := selected(t, c)
		conn := checkOut(t, server)
		pass(t, 3*time.Second)
		for i := range 5 {
			c.Answered(server, conn, 10107, "not primary", nil)
			began := time.Now()
			selected(t, c)
			if took := time.Since(began); took > MinHeartbeatInterval {
				t.Errorf("error %d: the server was selectable again after %v", i, took)
			}
			synctest.Wait() // the server is selectable a moment before its stream begins
		}
		server.CheckIn(conn)
		synctest.Wait()
		if n, _ := s.counts(); n != 6 {
			t.Errorf("%d streams were begun, want 6", n)
		}
	})
}

// With a newer topologyVersion in the error, the hello of the stream is on its way.
func TestAStreamGoesOnAfterAStateChangeErrorWithItsVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		server := selected(t, c)
		conn := checkOut(t, server)
		version, _ := bson.Marshal(bson.D{{Key: "processId", Value: s.process}, {Key: "counter", Value: int64(1)}})
		c.Answered(server, conn, 10107, "not primary", version)
		server.CheckIn(conn)
		synctest.Wait()
		if kindOf(c, addrA) != topology.Unknown {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
		s.become(standalone())
		synctest.Wait()
		if n, _ := s.counts(); n != 1 || kindOf(c, addrA) != topology.Standalone {
			t.Errorf("%d streams, the server is %v", n, kindOf(c, addrA))
		}
	})
}

// A server that answers awaitable hellos at once, without a change, must not be asked in a loop.
func TestAServerThatDoesNotWaitIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		s.script = nil
		start(t, network{addrA: &s.peer}, streaming)
		pass(t, 25*time.Second)
		if got := s.hellos(); got > 8 {
			t.Errorf("%d hellos in 25 s", got)
		}
	})
}

// A server may be replaced by an older one, which does not stream: then a check that is requested begins by itself, also if no
// selection asks for one.
func TestAServerThatStreamsNoLongerIsCheckedOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		s.once = true // so that the next hello is not a part of the stream
		c := start(t, network{addrA: &s.peer}, streaming)
		server := selected(t, c)
		conn := checkOut(t, server)
		pass(t, 3*time.Second)
		s.set(func(p *peer) { p.hello = standalone() })
		close(s.changed)
		pass(t, 3*time.Second)
		before := s.hellos()
		c.Answered(server, conn, 10107, "not primary", nil)
		server.CheckIn(conn)
		pass(t, MinHeartbeatInterval)
		s.wantHellos(t, before+1)
		if kindOf(c, addrA) != topology.Standalone {
			t.Errorf("the server is %v: it was not checked", kindOf(c, addrA))
		}
	})
}

func TestCloseEndsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		pass(t, 3*time.Second)
		began := time.Now()
		c.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %v", took)
		}
	})
}

// The server is perhaps overloaded and alive. If it has died, its stream has ended by now.
func TestAfterAFailedDialAStreamIsAwaitedForAShortTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		c := start(t, network{addrA: &s.peer}, streaming)
		server := selected(t, c)
		s.set(func(p *peer) { p.dial = func(context.Context) error { return syscall.ECONNREFUSED } })
		var failed *HandshakeError
		if err := operation(t.Context(), server); !errors.As(err, &failed) {
			t.Fatal(err)
		}
		began := time.Now()
		failed.Check.Wait(t.Context())
		if took := time.Since(began); took != streamEnds {
			t.Errorf("the wait took %v, want %v", took, streamEnds)
		}
	})
}

// SDAM's prose test "RTT Tests".
func TestProseRoundTripTimesFollowTheServerWhileItStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		answer := s.script
		var delay atomic.Int64
		delay.Store(int64(time.Millisecond))
		s.script = func(q *question) bool {
			sleep(t.Context(), time.Duration(delay.Load()), nil)
			return answer(q)
		}
		c := start(t, network{addrA: &s.peer}, func(cfg *Config) { cfg.Streaming, cfg.HeartbeatInterval = true, MinHeartbeatInterval })
		pass(t, 2*time.Second)
		if rtt := c.Snapshot().Description.Servers[0].RTT; rtt != time.Millisecond {
			t.Errorf("the average is %v", rtt)
		}
		delay.Store(int64(500 * time.Millisecond))
		for began := time.Now(); c.Snapshot().Description.Servers[0].RTT <= 250*time.Millisecond; pass(t, MinHeartbeatInterval) {
			if time.Since(began) > 15*time.Second {
				t.Fatalf("the average is %v", c.Snapshot().Description.Servers[0].RTT)
			}
		}
	})
}

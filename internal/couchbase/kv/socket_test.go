package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// onTCP returns a connection to the script over a socket, on the real clock.
func (s *server) onTCP(t testing.TB, change func(*Config)) *Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		s.serve(t, nc)
	})
	cfg := &Config{Agent: "test", Timeout: time.Minute}
	if change != nil {
		change(cfg)
	}
	c, err := Connect(context.Background(), cfg, l.Addr().String(), "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close(nil)
		_ = l.Close()
		serving.Wait()
	})
	return c
}

// A caller that is alone on a socket has a path of its own: each kind of end of a request on it.
func TestACallerAloneOnASocket(t *testing.T) {
	const wait = 20 * time.Millisecond
	slow := func(p *peer, r memd.Packet) {
		time.AfterFunc(wait, func() { p.send(reply(r)) })
	}
	none := func(*peer, memd.Packet) {}
	for _, c := range []struct {
		name   string
		answer func(p *peer, r memd.Packet)
		size   int
		limit  bool // a deadline
		cancel bool
		want   error
	}{
		{name: "a reply at once"},
		{name: "a reply after some ticks", answer: slow},
		{name: "a reply in two parts", answer: func(p *peer, r memd.Packet) {
			a := reply(r)
			b, _ := a.Append(nil)
			p.nc.Write(b[:30])
			time.AfterFunc(wait, func() { p.nc.Write(b[30:]) })
		}, size: 100},
		{name: "a request that is written wholly by one call", size: 10 << 10},
		{name: "a request that is too large for it", size: 8 << 20},
		{name: "a deadline", answer: none, limit: true, want: ErrDeadline},
		{name: "a cancellation", answer: none, cancel: true, want: ErrCancelled},
		{name: "the server hangs up", answer: func(p *peer, _ memd.Packet) { p.nc.Close() }, want: ErrClosed},
		{name: "the server hangs up later", answer: func(p *peer, _ memd.Packet) { time.AfterFunc(wait, func() { p.nc.Close() }) }, want: ErrClosed},
		{name: "the server ends its direction only", answer: func(p *peer, _ memd.Packet) { p.nc.(*net.TCPConn).CloseWrite() }, want: ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := (&server{answer: c.answer}).onTCP(t, nil)
			for range 3 {
				r := Request{Opcode: memd.OpSet, Value: bytes.Repeat([]byte("x"), c.size)}
				if c.limit {
					r.Deadline = time.Now().Add(wait)
				}
				if c.cancel {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(wait, cancel)
					r.Cancelled = ctx.Done()
				}
				var a Reply
				err := conn.RoundTrip(&r, &a)
				if !errors.Is(err, c.want) || err == nil && !bytes.Equal(a.Value, r.Value) {
					t.Errorf("error %v, a reply of %d bytes; want %v, %d", err, len(a.Value), c.want, c.size)
				}
			}
		})
	}
}

// A request that comes long after the last read is not written on a connection that has ended meanwhile. One that comes at once is: the path
// of a lone caller does not see what came before it, so the timer ends its wait, and it fails soon.
func TestALoneCallerNoticesAnEndThatCameBefore(t *testing.T) {
	for name, c := range map[string]struct {
		unread time.Duration
		want   retry.Stage
	}{
		"nobody has read for a while": {unread: -time.Hour, want: retry.StageBeforeSending},
		"a reply has just been read":  {unread: time.Hour, want: retry.StageInFlight},
	} {
		t.Run(name, func(t *testing.T) {
			conn := unreadAfter(t, func(p *peer) { p.nc.(*net.TCPConn).CloseWrite() }, nil) // it goes on reading
			conn.mu.Lock()
			conn.unread = int64(c.unread)
			conn.mu.Unlock()
			err := conn.RoundTrip(&Request{Opcode: memd.OpNoop}, new(Reply))
			var failed *Error
			if !errors.As(err, &failed) || failed.Stage != c.want || !errors.Is(err, ErrClosed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// What came while nobody read is dealt with before the next request is written.
func TestALoneCallerTakesTheMapThatCameBefore(t *testing.T) {
	told := 0
	change := func(cfg *Config) { cfg.OnMap = func(*Conn, memd.MapVersion, []byte) { told++ } }
	conn := unreadAfter(t, func(p *peer) {
		p.send(push(memd.MapVersion{Revision: 1}, strings.Repeat("x", readSize)), push(memd.MapVersion{Revision: 2}, "map"))
	}, change)
	conn.mu.Lock()
	s, err := conn.queueLocked(&Request{Opcode: memd.OpNoop}, new(Reply), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.lookLocked(s)
	if s.start < conn.handed || told != 2 || conn.reader != nil {
		t.Errorf("%d maps were told before the request was written; want 2", told)
	}
	conn.mu.Unlock()
}

// unreadAfter returns a connection on which the server has done something that nobody has read.
func unreadAfter(t *testing.T, do func(p *peer), change func(*Config)) *Conn {
	t.Helper()
	done := make(chan struct{})
	s := &server{answer: func(p *peer, r memd.Packet) {
		if r.Opcode == memd.OpStat {
			do(p)
			close(done)
			return
		}
		p.send(reply(r))
	}}
	conn := s.onTCP(t, change)
	conn.mu.Lock()
	conn.reader = new(slot) // nobody reads until it is done
	conn.mu.Unlock()
	if err := conn.RoundTrip(&Request{Opcode: memd.OpStat, Cancelled: done}, new(Reply)); !errors.Is(err, ErrCancelled) {
		t.Fatalf("error %v", err)
	}
	conn.mu.Lock()
	conn.reader, conn.unread = nil, -int64(time.Hour)
	conn.mu.Unlock()
	return conn
}

// The server reads nothing for a while, so that the socket gets full. Lone callers leave, and the socket takes only a part of the packet of
// one. What arrives in the end is what was said to be in flight.
func TestLoneCallersWhoseSocketIsFull(t *testing.T) {
	gate := make(chan struct{})
	arrived := make(map[string]bool)
	s := &server{answer: func(p *peer, r memd.Packet) {
		<-gate
		arrived[string(r.Value[:4])] = true
		p.send(memd.Packet{Magic: memd.MagicResponse, Opcode: r.Opcode, Opaque: r.Opaque})
	}}
	c := s.onTCP(t, func(cfg *Config) {
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				err = nc.(*net.TCPConn).SetWriteBuffer(1)
			}
			return nc, err
		}
	})
	inFlight := make(map[string]bool)
	unsent := 0
	var a Reply
	for n := 0; unsent < 5; n++ {
		value := fmt.Sprintf("%04d", n) + strings.Repeat("x", mostLone/2)
		err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte(value), Deadline: time.Now().Add(time.Millisecond)}, &a)
		var failed *Error
		if !errors.As(err, &failed) || !errors.Is(err, ErrDeadline) {
			t.Fatalf("error %v", err)
		}
		if failed.Stage == retry.StageBeforeSending {
			unsent++
		} else {
			inFlight[value[:4]] = true
		}
	}
	close(gate)
	if err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte("last")}, &a); err != nil {
		t.Fatal(err)
	}
	inFlight["last"] = true
	for value := range inFlight {
		if !arrived[value] {
			t.Errorf("%s was in flight and did not arrive", value)
		}
	}
	if len(arrived) != len(inFlight) {
		t.Errorf("%d requests arrived; %d were in flight", len(arrived), len(inFlight))
	}
}

func TestManyCallersOnASocket(t *testing.T) {
	const callers, each = 100, 200
	c := new(server).onTCP(t, nil)
	var running sync.WaitGroup
	for n := range callers {
		running.Go(func() {
			for i := range each {
				value := fmt.Sprint(n, " ", i, strings.Repeat("x", i))
				r := get(value)
				if n%3 == 0 {
					r.Deadline = time.Now().Add(time.Minute)
				}
				if n%5 == 0 {
					r.Cancelled = t.Context().Done()
				}
				var a Reply
				if err := c.RoundTrip(&r, &a); err != nil || string(a.Value) != value {
					t.Errorf("%q: the reply is %q, %v", value, a.Value, err)
					return
				}
			}
		})
	}
	running.Wait()
	if n := c.InFlight(); n != 0 {
		t.Errorf("%d requests are in flight", n)
	}
}

// Callers leave at all moments of their requests, while others go on, and no one gets a reply of another.
func TestCallersThatLeaveAtAllMoments(t *testing.T) {
	const callers, each = 16, 300
	orphans := 0
	c := new(server).onTCP(t, func(cfg *Config) { cfg.OnOrphan = func(Orphan) { orphans++ } })
	var running sync.WaitGroup
	for n := range callers {
		running.Go(func() {
			for i := range each {
				value := fmt.Sprint(n, " ", i)
				r := get(value)
				r.Deadline = time.Now().Add(time.Duration(i) * 2 * time.Microsecond)
				if n%2 == 0 {
					r.Deadline = time.Time{}
				}
				var a Reply
				err := c.RoundTrip(&r, &a)
				if err != nil && (n%2 == 0 || !errors.Is(err, ErrDeadline)) || err == nil && string(a.Value) != value {
					t.Errorf("%q: the reply is %q, %v", value, a.Value, err)
					return
				}
			}
		})
	}
	running.Wait()
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		t.Run("", func(t *testing.T) {
			s := &server{answer: func(*peer, memd.Packet) {}}
			c := s.onTCP(t, nil)
			var running sync.WaitGroup
			for range 10 {
				running.Go(func() {
					var a Reply
					if err := c.RoundTrip(&Request{Opcode: memd.OpGet}, &a); !errors.Is(err, ErrClosed) {
						t.Errorf("error %v", err)
					}
				})
			}
			for c.InFlight() < 10 {
				runtime.Gosched()
			}
			c.Close(nil)
			running.Wait()
		})
	}
	for runtime.NumGoroutine() > before { // if one is left, the time limit of the tests prints it
		runtime.Gosched()
	}
}

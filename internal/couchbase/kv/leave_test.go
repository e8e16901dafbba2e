package kv

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// silent is a server that answers nothing after the handshake until it is told to.
type silent struct {
	server
	mu   sync.Mutex
	peer *peer
	held []memd.Packet

	frames []byte // the framing extras of its answers
}

func newSilent() *silent {
	s := new(silent)
	s.answer = func(p *peer, r memd.Packet) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.peer = p
		s.held = append(s.held, r)
	}
	return s
}

// release answers the requests that came.
func (s *silent) release() (n int) { return s.releaseOnly("") }

// releaseOnly answers the requests that came with a value, or all for "".
func (s *silent) releaseOnly(value string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.DeleteFunc(s.held, func(r memd.Packet) bool {
		if value != "" && string(r.Value) != value {
			return false
		}
		answer := reply(r)
		if s.frames != nil {
			answer.Magic, answer.Frames = memd.MagicFlexibleResponse, s.frames
		}
		s.peer.send(answer)
		n++
		return true
	})
	return n
}

// trip is one request of a test, and its end.
type trip struct {
	err   error
	reply Reply
	took  time.Duration
	done  chan struct{}
}

// begin makes a request on a goroutine of its own, and returns when it waits.
func begin(c *Conn, r Request) *trip {
	k := &trip{done: make(chan struct{})}
	go func() {
		defer close(k.done)
		began := time.Now()
		k.err = c.RoundTrip(&r, &k.reply)
		k.took = time.Since(began)
	}()
	synctest.Wait()
	return k
}

func get(value string) Request { return Request{Opcode: memd.OpGet, Value: []byte(value)} }

func (k *trip) wantReply(t *testing.T, value string) {
	t.Helper()
	<-k.done
	if k.err != nil || string(k.reply.Value) != value {
		t.Errorf("the reply is %q, %v; want %q", k.reply.Value, k.err, value)
	}
}

func (k *trip) wantError(t *testing.T, stage retry.Stage, cause error) {
	t.Helper()
	<-k.done
	var failed *Error
	if !errors.As(k.err, &failed) || failed.Stage != stage || !errors.Is(k.err, cause) {
		t.Errorf("error %v; want %v (%v)", k.err, cause, stage)
	}
}

func (k *trip) wantTook(t *testing.T, least, most time.Duration) {
	t.Helper()
	<-k.done
	if k.took < least || k.took > most {
		t.Errorf("it took %v; want from %v to %v", k.took, least, most)
	}
}

func TestACallerLeavesAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		c := s.connect(t, nil)
		first, second, third := get("1"), get("2"), get("3")
		first.Deadline, second.Deadline = soon(20*time.Millisecond), soon(10*time.Millisecond)
		leader, follower, stays := begin(c, first), begin(c, second), begin(c, third)
		follower.wantError(t, retry.StageInFlight, ErrDeadline)
		follower.wantTook(t, 10*time.Millisecond, 11*time.Millisecond)
		leader.wantError(t, retry.StageInFlight, ErrDeadline)
		leader.wantTook(t, 20*time.Millisecond, 21*time.Millisecond)
		s.release()
		stays.wantReply(t, "3")
	})
}

func TestACancelledCallerLeaves(t *testing.T) {
	for _, name := range []string{"the leader", "a follower", "beside the idle goroutine"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSilent()
				c := s.connect(t, nil)
				ctx, cancel := context.WithCancel(t.Context())
				r := get("leaves")
				r.Cancelled = ctx.Done()
				var before, leaves, after *trip
				switch name {
				case "a follower":
					before = begin(c, get("before"))
				case "beside the idle goroutine":
					pass(10 * time.Millisecond)
				}
				leaves = begin(c, r)
				after = begin(c, get("after"))
				pass(100 * time.Millisecond)
				cancel()
				leaves.wantError(t, retry.StageInFlight, ErrCancelled)
				leaves.wantTook(t, 100*time.Millisecond, 102*time.Millisecond)
				if n := c.InFlight(); n != 1 && before == nil {
					t.Errorf("%d requests are in flight", n)
				}
				s.release()
				after.wantReply(t, "after")
				if before != nil {
					before.wantReply(t, "before")
				}
			})
		})
	}
}

func TestAFollowerThatBecameTheLeaderIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		c := s.connect(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		r := get("leaves")
		r.Cancelled = ctx.Done()
		leader, leaves, stays := begin(c, get("leads")), begin(c, r), begin(c, get("stays"))
		pass(10 * time.Millisecond) // the timer is not set any more
		s.releaseOnly("leads")
		leader.wantReply(t, "leads")
		s.releaseOnly("stays")
		stays.wantReply(t, "stays")
		pass(10 * time.Millisecond)
		cancel()
		leaves.wantError(t, retry.StageInFlight, ErrCancelled)
		leaves.wantTook(t, 20*time.Millisecond, 22*time.Millisecond)
	})
}

func TestARequestThatWasCancelledBeforeIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		c := s.connect(t, nil)
		cancelled, passed := get("1"), get("2")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		cancelled.Cancelled, passed.Deadline = ctx.Done(), time.Now()
		begin(c, cancelled).wantError(t, retry.StageBeforeSending, ErrCancelled)
		begin(c, passed).wantError(t, retry.StageBeforeSending, ErrDeadline)
		if n := s.release(); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// A reply after its caller has left is an orphan, and its slot is used again only then.
func TestALateReplyIsAnOrphan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		s.frames = memd.AppendServerDuration(nil, time.Second)
		var orphans []Orphan
		cfg := s.start(t)
		cfg.OnOrphan = func(o Orphan) { orphans = append(orphans, o) }
		c := s.connect(t, cfg)
		r := get("late")
		r.Started, r.Deadline = time.Now(), soon(time.Millisecond)
		began := r.Started
		late := begin(c, r)
		late.wantError(t, retry.StageInFlight, ErrDeadline)
		next := begin(c, get("next"))
		s.release()
		next.wantReply(t, "next")
		var failed *Error
		errors.As(late.err, &failed)
		if len(orphans) != 1 || orphans[0].Opcode != memd.OpGet || orphans[0].Opaque != failed.Opaque || !orphans[0].Started.Equal(began) {
			t.Fatalf("the orphans are %+v; want one of opaque %#x", orphans, failed.Opaque)
		}
		if got := orphans[0].ServerDuration.Round(100 * time.Millisecond); got != time.Second {
			t.Errorf("the server needed %v for the orphan; want 1s", got)
		}
		if next.reply.Opaque == failed.Opaque {
			t.Error("the opaque was used again while the server owed a reply to it")
		}
		if c.slots.left.first != nil {
			t.Error("the slot is reserved although the reply has come")
		}
	})
}

// blocked is a connection whose server reads nothing after the handshake, so that writes wait.
func blocked(t *testing.T) (c *Conn, client *memnet.Conn, resume func()) {
	t.Helper()
	gate := make(chan struct{})
	s := new(server)
	s.answer = func(p *peer, r memd.Packet) {
		<-gate
		p.send(reply(r))
	}
	cfg := s.start(t)
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		client = nc.(*memnet.Conn)
		return nc, err
	}
	c = s.connect(t, cfg)
	return c, client, func() { close(gate) }
}

// A caller whose write waits leaves at its deadline, and its packet is still sent wholly. A packet behind it is not sent after its caller
// has left.
func TestACallerLeavesAWriteThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, resume := blocked(t)
		begin(c, get("first")) // the server waits while it answers this one
		big := Request{Opcode: memd.OpSet, Value: make([]byte, 20<<20), Deadline: soon(10 * time.Millisecond)}
		behind, stays := get("behind"), get("stays")
		behind.Deadline = soon(5 * time.Millisecond)
		writer, unsent, sent := begin(c, big), begin(c, behind), begin(c, stays)
		unsent.wantError(t, retry.StageBeforeSending, ErrDeadline)
		writer.wantError(t, retry.StageInFlight, ErrDeadline)
		writer.wantTook(t, 10*time.Millisecond, 11*time.Millisecond)
		resume()
		sent.wantReply(t, "stays")
		var r Reply
		if err := c.RoundTrip(&Request{Opcode: memd.OpNoop}, &r); err != nil {
			t.Errorf("the connection cannot be used after it: %v", err)
		}
	})
}

func TestACancelledCallerLeavesAWriteThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, resume := blocked(t)
		begin(c, get("first"))
		pass(10 * time.Millisecond) // the timer is not set any more
		ctx, cancel := context.WithCancel(t.Context())
		writer := begin(c, Request{Opcode: memd.OpSet, Value: make([]byte, 20<<20), Cancelled: ctx.Done()})
		pass(time.Second)
		cancel()
		writer.wantError(t, retry.StageInFlight, ErrCancelled)
		writer.wantTook(t, time.Second, time.Second+2*time.Millisecond)
		resume()
		begin(c, get("after")).wantReply(t, "after")
	})
}

// A write was given two packets and stopped in the first. The caller of the second was the writer and has left: its packet is not sent.
func TestAPacketThatAStoppedWriteDidNotReachIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var arrived []string
		s := &server{answer: func(p *peer, r memd.Packet) {
			arrived = append(arrived, string(r.Value[:min(5, len(r.Value))]))
			<-gate
			p.send(reply(r))
		}}
		c := s.connect(t, nil)
		first := begin(c, get("first"))
		c.setWriting(true)
		big := begin(c, Request{Opcode: memd.OpSet, Value: make([]byte, 20<<20)})
		c.setWriting(false)
		writer := get("leaves")
		writer.Deadline = soon(10 * time.Millisecond)
		leaves := begin(c, writer)
		behind := begin(c, get("stays"))
		leaves.wantError(t, retry.StageBeforeSending, ErrDeadline)
		leaves.wantTook(t, 10*time.Millisecond, 11*time.Millisecond)
		close(gate)
		first.wantReply(t, "first")
		behind.wantReply(t, "stays")
		if <-big.done; big.err != nil {
			t.Errorf("the request that was stopped has the error %v", big.err)
		}
		if want := []string{"first", "\x00\x00\x00\x00\x00", "stays"}; !slices.Equal(arrived, want) {
			t.Errorf("%q arrived; want %q", arrived, want)
		}
	})
}

// A packet that came while a caller wrote alone is written without that caller, which waits for its reply.
func TestAPacketThatCameDuringALoneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(server).connect(t, nil)
		c.setWriting(true)
		k := begin(c, get("came"))
		c.wroteAlone()
		k.wantReply(t, "came")
		begin(c, get("next")).wantReply(t, "next")
	})
}

// setWriting makes callers believe that another one writes, or not.
func (c *Conn) setWriting(writing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = writing
}

func TestWhoseRequestWasSentWhenTheConnectionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client, resume := blocked(t)
		defer resume()
		answered := begin(c, get("first"))
		writer := begin(c, Request{Opcode: memd.OpSet, Value: make([]byte, 20<<20)})
		behind := begin(c, get("behind"))
		cause := errors.New("the node left the map")
		c.Close(cause)
		answered.wantError(t, retry.StageInFlight, cause)
		writer.wantError(t, retry.StageInFlight, cause)
		behind.wantError(t, retry.StageBeforeSending, cause)
		begin(c, get("after")).wantError(t, retry.StageBeforeSending, ErrClosed)
		if _, err := client.Write([]byte("x")); err == nil {
			t.Error("the socket is open")
		}
	})
}

func TestAFullQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		cfg := s.start(t)
		cfg.MaxQueue = 2
		c := s.connect(t, cfg)
		first := get("1")
		first.Deadline = soon(time.Millisecond)
		leaves, stays := begin(c, first), begin(c, get("2"))
		begin(c, get("3")).wantError(t, retry.StageBeforeSending, ErrQueueFull)
		leaves.wantError(t, retry.StageInFlight, ErrDeadline)
		next := begin(c, get("4"))
		s.release()
		stays.wantReply(t, "2")
		next.wantReply(t, "4")
	})
}

// Many callers leave without a reply: the slots are used again in the end, and no late reply reaches another caller.
func TestLateRepliesNeverReachAnotherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		cfg := s.start(t)
		cfg.MaxQueue = 16
		orphans := 0
		cfg.OnOrphan = func(Orphan) { orphans++ }
		c := s.connect(t, cfg)
		const leavers = 200
		for range leavers {
			r := get("late")
			r.Deadline = soon(time.Millisecond)
			begin(c, r).wantError(t, retry.StageInFlight, ErrDeadline)
		}
		if c.slots.used > 64 {
			t.Errorf("there are %d slots", c.slots.used)
		}
		stays := begin(c, get("stays"))
		s.release()
		stays.wantReply(t, "stays")
		synctest.Wait()
		if orphans != leavers {
			t.Errorf("%d orphans; want %d", orphans, leavers)
		}
		begin(c, get("after"))
		s.release()
	})
}

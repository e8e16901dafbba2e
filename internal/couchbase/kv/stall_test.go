package kv

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// stalling is a connection whose next write waits until it is stopped, and has then written some bytes. The write after that waits for
// the gate.
type stalling struct {
	net.Conn
	armed   bool
	least   int // the bytes that it has written then
	stopped chan struct{}
	gate    chan struct{}
}

func (s *stalling) OpenAndSilent() bool { return true }

func (s *stalling) SetWriteDeadline(t time.Time) error {
	if s.armed && !t.IsZero() {
		close(s.stopped)
	}
	return nil
}

func (s *stalling) Write(b []byte) (int, error) {
	if !s.armed {
		return s.Conn.Write(b)
	}
	select {
	case <-s.stopped:
		s.armed = false
		<-s.gate
		return s.Conn.Write(b)
	default:
	}
	<-s.stopped
	n, _ := s.Conn.Write(b[:s.least])
	return n, os.ErrDeadlineExceeded
}

// stalled is a connection whose writes can be made to stall.
func stalled(t *testing.T, s *server, least int) (*Conn, *stalling) {
	t.Helper()
	cfg := s.start(t)
	dial := cfg.Dial
	stall := &stalling{least: least, stopped: make(chan struct{}), gate: make(chan struct{})}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		stall.Conn = nc
		return stall, err
	}
	return s.connect(t, cfg), stall
}

// A write was stopped before its first byte: nothing was sent, nothing will be, and the slots are free again.
func TestAWriteThatWasStoppedBeforeItsFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrived []string
		s := &server{answer: func(p *peer, r memd.Packet) {
			arrived = append(arrived, string(r.Value))
			p.send(reply(r))
		}}
		c, stall := stalled(t, s, 0)
		begin(c, get("before")).wantReply(t, "before")
		c.setWriting(true) // so that one write is given both packets
		earlier := get("leaves earlier")
		earlier.Deadline = soon(5 * time.Millisecond)
		first := begin(c, earlier)
		c.setWriting(false)
		stall.armed = true
		writer := get("writes, and leaves")
		writer.Deadline = soon(10 * time.Millisecond)
		second := begin(c, writer)
		close(stall.gate)
		first.wantError(t, retry.StageInFlight, ErrDeadline) // at that time nobody knew
		second.wantError(t, retry.StageBeforeSending, ErrDeadline)
		begin(c, get("after")).wantReply(t, "after")
		if want := []string{"before", "after"}; !slices.Equal(arrived, want) {
			t.Errorf("%q arrived", arrived)
		}
		if c.slots.left.first != nil {
			t.Error("a slot waits for a reply that cannot come")
		}
	})
}

// The rest of a write that was stopped is written later. The memory of it must not take the packets that come meanwhile.
func TestPacketsThatComeWhileTheRestOfAWriteIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrived []string
		s := &server{answer: func(p *peer, r memd.Packet) {
			arrived = append(arrived, string(r.Value))
			p.send(reply(r))
		}}
		c, stall := stalled(t, s, 5)
		begin(c, get("before")).wantReply(t, "before")
		stall.armed = true
		long := strings.Repeat("of the caller that leaves ", 20)
		writer := get(long)
		writer.Deadline = soon(10 * time.Millisecond)
		begin(c, writer).wantError(t, retry.StageInFlight, ErrDeadline)
		synctest.Wait() // the rest is being written
		came := []*trip{begin(c, get("came meanwhile")), begin(c, get("came too"))}
		synctest.Wait()
		close(stall.gate)
		came[0].wantReply(t, "came meanwhile")
		came[1].wantReply(t, "came too")
		if want := []string{"before", long, "came meanwhile", "came too"}; !slices.Equal(arrived, want) {
			t.Errorf("%q arrived", arrived)
		}
	})
}

// A request that cannot be a packet takes no place from others.
func TestRequestsThatCannotBeSentLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		cfg := s.start(t)
		cfg.MaxQueue = 1
		c := s.connect(t, cfg)
		for range 10 * chunkSize {
			var r Reply
			if err := c.RoundTrip(&Request{Opcode: memd.OpGet, Key: make([]byte, 1<<16)}, &r); err == nil {
				t.Fatal("a key that is too long was sent")
			}
		}
		begin(c, get("good")).wantReply(t, "good")
	})
}

// The body of a pushed map belongs to the function that is told of it: what is read later does not change it.
func TestThePushedMapBelongsToItsReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(p *peer, r memd.Packet) {
			p.send(push(memd.MapVersion{Epoch: 1, Revision: 2}, string(r.Value)), reply(r))
		}}
		cfg := s.start(t)
		var kept [][]byte
		cfg.OnMap = func(_ *Conn, _ memd.MapVersion, body []byte) { kept = append(kept, body) }
		c := s.connect(t, cfg)
		for _, value := range []string{"first map", "other map"} {
			begin(c, get(value)).wantReply(t, value)
		}
		if len(kept) != 2 || string(kept[0]) != "first map" {
			t.Errorf("it has %q", kept)
		}
	})
}

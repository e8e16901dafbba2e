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
	n, _ := s.Conn.Write(b[:5])
	return n, os.ErrDeadlineExceeded
}

// The rest of a write that was stopped is written later. The memory of it must not take the packets that come meanwhile.
func TestPacketsThatComeWhileTheRestOfAWriteIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrived []string
		s := &server{answer: func(p *peer, r memd.Packet) {
			arrived = append(arrived, string(r.Value))
			p.send(reply(r))
		}}
		cfg := s.start(t)
		dial := cfg.Dial
		stall := &stalling{stopped: make(chan struct{}), gate: make(chan struct{})}
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := dial(ctx, network, address)
			stall.Conn = nc
			return stall, err
		}
		c := s.connect(t, cfg)
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

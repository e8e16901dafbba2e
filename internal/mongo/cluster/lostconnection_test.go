package cluster

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// monitored starts a cluster on one server, which streams its hellos or is polled. It returns the server's side too.
func monitored(t *testing.T, streams bool) (*Cluster, *peer) {
	t.Helper()
	if streams {
		s := newStreamer(t)
		return start(t, network{addrA: &s.peer}, streaming), &s.peer
	}
	p := &peer{hello: standalone()}
	return start(t, network{addrA: p}, nil), p
}

// lost is the end of an operation that has lost its connection.
func lost(c *Cluster, s *Server, conn *Conn) {
	broke(io.EOF)(c, s, conn)
	_ = conn.Broken(io.EOF)
	s.CheckIn(conn)
}

// lose makes an operation lose its connection. It returns how long it is until the next one has its own.
func lose(t *testing.T, c *Cluster) time.Duration {
	t.Helper()
	s := selected(t, c)
	conn := checkOut(t, s)
	lost(c, s, conn)
	began := time.Now()
	s = selected(t, c)
	s.CheckIn(checkOut(t, s))
	return time.Since(began)
}

// The first lost connection in MinHeartbeatInterval costs no wait. A further one costs at most a probeInterval.
func TestAServerIsKnownAgainSoonAfterALostConnection(t *testing.T) {
	for _, streams := range []bool{false, true} {
		for _, c := range []struct {
			pauses string // before each loss, in milliseconds
			waits  string
		}{
			{"0 0 0 0", "0 250 250 250"},
			{"1 1 1", "0 249 249"},
			{"600 0 0", "0 0 250"}, // a check is allowed, and a probe too
			{"600 600 600", "0 0 0"},
			{"3000 100 200 300", "0 0 50 0"},
			{"9999 0 600", "0 0 0"},
			{"10001 0", "0 250"}, // behind a heartbeat
		} {
			t.Run(fmt.Sprintf("streams %v, after %s", streams, c.pauses), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cluster, _ := monitored(t, streams)
					selected(t, cluster)
					var waits []time.Duration
					for _, d := range inMilliseconds(t, c.pauses) {
						pass(t, d)
						waits = append(waits, lose(t, cluster))
					}
					if want := inMilliseconds(t, c.waits); !slices.Equal(waits, want) {
						t.Errorf("waits %v, want %v", waits, want)
					}
				})
			})
		}
	}
}

func inMilliseconds(t *testing.T, text string) (all []time.Duration) {
	t.Helper()
	for field := range strings.FieldsSeq(text) {
		d, err := time.ParseDuration(field + "ms")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// A server that answers the handshake and closes what follows is checked twice a second, and probed four times.
func TestAServerThatClosesEachConnectionIsCheckedSeldom(t *testing.T) {
	for _, streams := range []bool{false, true} {
		t.Run(fmt.Sprintf("streams %v", streams), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := monitored(t, streams)
				selected(t, c)
				pass(t, time.Second)
				before := p.dials()
				losses, began := 0, time.Now()
				for ; time.Since(began) < 10*time.Second; losses++ {
					lose(t, c)
				}
				made := p.dials() - before - losses
				if most := 10 * (2 + 4); made > most || losses < 10 {
					t.Errorf("%d connections beside those of %d operations, want at most %d", made, losses, most)
				}
			})
		})
	}
}

// A lost connection that no selection waits for leaves the heartbeat where it was.
func TestALostConnectionDoesNotPostponeTheHeartbeat(t *testing.T) {
	for _, after := range []time.Duration{100 * time.Millisecond, 9900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c, p := monitored(t, false)
			s := selected(t, c)
			conn := checkOut(t, s)
			pass(t, after)
			before := p.hellos()
			lost(c, s, conn)
			pass(t, c.cfg.HeartbeatInterval-after-1)
			p.wantHellos(t, before)
			pass(t, 1)
			p.wantHellos(t, before+1)
		})
	}
}

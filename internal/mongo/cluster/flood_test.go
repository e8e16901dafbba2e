package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Callers with deadlines around the time of a round trip use a small pool, whose server is slow, refuses and resets
// connections, and is declared dead. Each reply must belong to its question, and nothing may be left in the end.
func TestNothingIsLostOrLeftUnderAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		p.dial = func(ctx context.Context) error {
			sleep(ctx, randomTime(20*time.Millisecond), nil)
			if rand.IntN(10) == 0 {
				return syscall.ECONNREFUSED
			}
			return ctx.Err()
		}
		p.script = trouble
		c := start(t, network{addrA: p}, func(cfg *Config) {
			cfg.MaxPoolSize, cfg.MinPoolSize, cfg.MaxConnIdleTime = 5, 2, 50*time.Millisecond
			cfg.ConnectTimeout, cfg.HeartbeatInterval = 100*time.Millisecond, time.Second
		})
		s := selected(t, c)
		began := time.Now()
		var all sync.WaitGroup
		succeeded := make([]int, 20)
		for i := range succeeded {
			all.Go(func() {
				for id := int32(i + 1); time.Since(began) < 5*time.Second; id += 20 {
					if flood(t, s, id) {
						succeeded[i]++
					}
				}
			})
		}
		all.Go(func() {
			for time.Since(began) < 5*time.Second {
				sleep(t.Context(), randomTime(time.Second), nil)
				s.pool.clear(errDown, rand.IntN(2) == 0).run()
				sleep(t.Context(), randomTime(100*time.Millisecond), nil)
				found(t, s, standalone())
			}
		})
		all.Wait()
		sum := 0
		for _, n := range succeeded {
			sum += n
		}
		if sum < 100 {
			t.Errorf("%d operations succeeded", sum)
		}
		c.Close()
		counters(t, s, 0, 0, 0)
		if n := s.inFlight.Load(); n != 0 {
			t.Errorf("%d operations are in flight", n)
		}
		pass(t, time.Second) // the peer ends
		p.wantEnded(t, 0)
	})
}

func randomTime(most time.Duration) time.Duration { return rand.N(most) }

// trouble answers late, closes or resets the connection, or answers in two pieces.
func trouble(q *question) bool {
	sleep(context.Background(), randomTime(10*time.Millisecond), nil)
	reply := q.reply(append(bson.D{{Key: "ok", Value: 1}, {Key: "id", Value: q.header.RequestID}}, standalone()...))
	switch rand.IntN(40) {
	case 0:
		q.conn.Close()
	case 1:
		q.conn.Abort(syscall.ECONNRESET)
	case 2:
		q.conn.Write(reply[:10])
		sleep(context.Background(), randomTime(5*time.Millisecond), nil)
		q.conn.Write(reply[10:])
	default:
		q.conn.Write(reply)
	}
	return true
}

// flood runs one operation with a random deadline, and reports whether it succeeded.
func flood(t *testing.T, s *Server, id int32) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), randomTime(40*time.Millisecond))
	defer cancel()
	c, err := s.CheckOut(ctx, nil)
	if err != nil {
		sleep(t.Context(), time.Millisecond, nil)
		return false
	}
	defer s.CheckIn(c)
	at, b := wire.BeginMsg(c.Out[:0], id, 0, 0)
	doc, b := wire.BeginDocument(b)
	c.Out = wire.EndMessage(wire.EndDocument(wire.AppendInt32(b, "ping", 1), doc), at)
	reply, err := c.RoundTrip(ctx, c.Out, id)
	if err != nil {
		var broken *IOError
		if !errors.As(err, &broken) {
			t.Error(err)
		}
		return false
	}
	m, err := wire.ParseMsg(reply)
	if err != nil {
		t.Error(err)
		return false
	}
	if got, _ := bson.Raw(m.Body).Lookup("id").AsInt64OK(); int32(got) != id {
		t.Errorf("the reply is to %d, want %d", got, id)
	}
	return true
}

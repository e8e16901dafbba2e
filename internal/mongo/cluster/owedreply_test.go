package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// timedOut returns a server with one connection whose operation has ended with its context. Then answer answers it.
func timedOut(t *testing.T, answer func(*question)) (*peer, *Server) {
	t.Helper()
	p := &peer{hello: standalone()}
	c, s := connected(t, p)
	p.set(func(p *peer) { p.script = func(q *question) bool { go answer(q); return true } })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := ping(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	s.CheckIn(c)
	p.set(func(p *peer) { p.script = nil })
	return p, s
}

func TestAConnectionIsUsedAgainWhenItsLateReplyWasRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(*testing.T, *question)
		kept   bool
	}{
		{"the reply comes in time", func(t *testing.T, q *question) {
			sleep(t.Context(), owedReplyLimit, nil)
			q.answer(bson.D{{Key: "ok", Value: 1}})
		}, true},
		{"half of the reply had come", func(t *testing.T, q *question) {
			reply := q.reply(bson.D{{Key: "ok", Value: 1}})
			q.conn.Write(reply[:20])
			sleep(t.Context(), time.Second, nil)
			q.conn.Write(reply[20:])
		}, true},
		{"the reply comes too late", func(t *testing.T, q *question) {
			sleep(t.Context(), owedReplyLimit+11*time.Millisecond, nil)
			q.answer(bson.D{{Key: "ok", Value: 1}})
		}, false},
		{"the reply is to another request", func(t *testing.T, q *question) {
			sleep(t.Context(), time.Second, nil)
			q.header.RequestID++
			q.answer(bson.D{{Key: "ok", Value: 1}})
		}, false},
		{"more replies follow", func(t *testing.T, q *question) {
			sleep(t.Context(), time.Second, nil)
			at, b := wire.BeginMsg(nil, 1, q.header.RequestID, wire.MoreToCome)
			q.conn.Write(wire.EndMessage(append(b, 5, 0, 0, 0, 0), at))
		}, false},
		{"the server closes the connection", func(t *testing.T, q *question) {
			sleep(t.Context(), time.Second, nil)
			q.conn.Close()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := timedOut(t, func(q *question) { c.answer(t, q) })
				pass(t, 0)
				counters(t, s, 1, 0, 0)
				pass(t, owedReplyLimit+20*time.Millisecond)
				if c.kept {
					counters(t, s, 1, 1, 0)
					if !s.pool.own.idle[0].Reusable() {
						t.Error("a reply is owed still")
					}
				} else {
					counters(t, s, 0, 0, 0)
				}
				if err := operation(t.Context(), s); err != nil || (p.dialed == 1) != c.kept {
					t.Errorf("the next operation: %v, after %d dials", err, p.dialed)
				}
			})
		})
	}
}

func TestALateReplyIsNotTheNextOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := timedOut(t, func(q *question) {
			sleep(t.Context(), 100*time.Millisecond, nil)
			q.answer(bson.D{{Key: "ok", Value: 1}, {Key: "late", Value: true}})
		})
		pass(t, time.Second)
		c := checkOut(t, s)
		defer s.CheckIn(c)
		at, b := wire.BeginMsg(nil, 8, 0, 0)
		reply, err := c.RoundTrip(t.Context(), wire.EndMessage(append(b, 5, 0, 0, 0, 0), at), 8)
		if err != nil {
			t.Fatal(err)
		}
		m, err := wire.ParseMsg(reply)
		if err != nil || bson.Raw(m.Body).Lookup("late").Type != 0 {
			t.Errorf("the reply is %v, %v", m.Body, err)
		}
	})
}

func TestTheEndOfTheClientDoesNotWaitForALateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := timedOut(t, func(*question) {})
		began := time.Now()
		s.cluster.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %v", took)
		}
		counters(t, s, 0, 0, 0)
		p.wantEnded(t, 0)
	})
}

func TestALateReplyIsNotAwaitedFromAServerThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := timedOut(t, func(*question) {})
		s.pool.clear(errDown, true).run()
		synctest.Wait()
		counters(t, s, 0, 0, 0)
		p.wantEnded(t, 0)
	})
}

func TestALateReplyOfAStaleConnectionDoesNotKeepIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := timedOut(t, func(q *question) {
			sleep(t.Context(), time.Second, nil)
			q.answer(bson.D{{Key: "ok", Value: 1}})
		})
		s.pool.clear(errDown, false).run()
		pass(t, time.Second)
		counters(t, s, 0, 0, 0)
	})
}

func TestAConnectionThatIsCheckedInAfterCloseOwesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c, s := connected(t, p)
		p.hang()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if ping(ctx, c) == nil {
			t.Fatal("it was answered")
		}
		s.cluster.Close()
		s.CheckIn(c)
		counters(t, s, 0, 0, 0)
	})
}

package router_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	littleMemory = 1 << 20   // of which messages have 512 and 224 KiB, those of strangers 32, and replies 256
	largeInsert  = 100 << 10 // two of them have memory at the same time
)

// Large messages wait for one another, in their order, and smaller ones do not wait for them.
func TestLargeMessagesWaitForMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		w.router.SetMemory(littleMemory)
		w.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: 4 * time.Second}))
		began := time.Now()
		var clients []*wireClient
		for range 6 {
			c := w.dial()
			c.send(insertBytes(largeInsert))
			clients = append(clients, c)
			<-time.After(time.Millisecond)
		}
		small := w.dial()
		commented := func(n int) []byte {
			return messageOf(w, command("count", "c", e("comment", strings.Repeat("x", n))), 0)
		}
		sends(commented(64<<10-len(commented(0))))(w, small)
		if reply, err := small.receive(); err != nil || reply.Lookup("ok").AsInt64() != 1 {
			w.Errorf("a smaller message: %v, %v", reply, err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			w.Errorf("a smaller message waits %v", took)
		}
		for i, c := range clients {
			if reply, err := c.receive(); err != nil || reply.Lookup("n").Type == 0 {
				w.Errorf("insert %d: %v, %v", i, reply, err)
			}
			if took, want := time.Since(began), time.Duration(i/2+1)*4*time.Second; took.Round(time.Second) != want {
				w.Errorf("insert %d took %v, want %v", i, took, want)
			}
		}
		if w.router.MemoryInUse(littleMemory) {
			w.Error("memory is in use after the last reply")
		}
	})
}

// A message that has waited too long is refused, and read past: the connection goes on.
func TestAMessageForWhichThereIsNoMemory(t *testing.T) {
	for _, size := range []int{largeInsert, 52 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { inWorld(t, func(w *world) { testNoMemory(w, insertBytes(size)) }) })
	}
}

// testNoMemory sends an insert when two of its size have all the memory.
func testNoMemory(w *world, insert bson.D) {
	w.router.SetMemory(littleMemory)
	w.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: time.Minute}))
	for range 2 {
		w.dial().send(insert)
	}
	<-time.After(time.Millisecond)
	c, old, silent := w.dial(), w.connectOld(), w.dial()
	sends(messageOf(w, insert, wire.MoreToCome))(w, silent)
	began := time.Now()
	old.send(wire.AppendQuery(nil, 3, 0, "app.$cmd", document(insert)))
	o := c.run(insert)
	var labels []string
	_ = o.Lookup("errorLabels").Unmarshal(&labels)
	want := []string{"SystemOverloadedError", "RetryableError", "NoWritesPerformed"}
	if code, _ := o.Lookup("code").AsInt64OK(); code != 462 || !slices.Equal(labels, want) || time.Since(began) != 20*time.Second {
		w.Errorf("after %v: %v", time.Since(began), o)
	}
	c.must(d("count", "c"))
	w.set.CheckCommands(w, "insert", 2)
	if _, err := old.conn.Read(make([]byte, 1)); err == nil {
		w.Error("an OP_QUERY for which there is no memory is answered")
	}
	<-time.After(time.Minute)
	if o := silent.outcomeOf(d("count", "c")); o.OK != 1 {
		w.Errorf("after a message that is never answered: %+v", o)
	}
}

// largeReplies returns a connection whose finds, getMores and findAndModifies have replies of 200 KiB, and holds the memory of replies until release.
func (w *world) largeReplies() (c *wireClient, cursor int64, release func()) {
	w.router.SetMemory(littleMemory)
	c = w.dial()
	for range 3 {
		c.must(insertBytes(200 << 10))
	}
	cursor = c.run(command("find", "c", e("batchSize", 0))).Lookup("cursor", "id").Int64()
	return c, cursor, w.holdReplies()
}

// holdReplies holds the memory of replies, until release, by a client that does not read its own.
func (w *world) holdReplies() (release func()) {
	l := w.pipes()
	stops := l.dial(w)
	stops.send(command("find", "c", e("limit", 1), e("comment", "stops")))
	<-time.After(time.Millisecond)
	if !w.router.MemoryInUse(littleMemory) {
		w.Fatal("the reply holds no memory")
	}
	return func() { _, _ = stops.receive(); _ = l.Close() }
}

func TestALargeReplyWaitsForMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		c, _, release := w.largeReplies()
		began := time.Now()
		c.send(command("find", "c", e("limit", 1)))
		<-time.After(3 * time.Second)
		release()
		if reply, err := c.receive(); err != nil || reply.Lookup("ok").AsFloat64() != 1 || time.Since(began) != 3*time.Second {
			w.Errorf("after %v: %v", time.Since(began), err)
		}
		if w.router.MemoryInUse(littleMemory) {
			w.Error("memory is in use after the last reply")
		}
		w.pass(time.Minute)
		c.must(d("count", "c")) // after its large reply it may be silent
	})
}

// What cannot be repeated is not called overloaded.
func TestALargeReplyForWhichThereIsNoMemory(t *testing.T) {
	numbered := []bson.E{e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})), e("txnNumber", int64(1))}
	for name, c := range map[string]struct {
		command func(cursor int64) bson.D
		took    time.Duration
		code    int64
		labels  []string
	}{
		"find": {
			func(int64) bson.D { return command("find", "c", e("limit", 1)) }, 10 * time.Second,
			462,
			[]string{"SystemOverloadedError", "RetryableError", "NoWritesPerformed"},
		},
		"a find with less time": {func(int64) bson.D { return command("find", "c", e("limit", 1), e("maxTimeMS", 3000)) }, 3 * time.Second, 50, nil},
		"getMore":               {func(cursor int64) bson.D { return command("getMore", cursor, e("collection", "c"), e("batchSize", 1)) }, 10 * time.Second, 6, nil},
		"findAndModify": {func(int64) bson.D {
			return command("findAndModify", "c", append(numbered, e("query", bson.D{}), e("update", d("$set", d("b", 1))))...)
		}, 10 * time.Second, 6, []string{"RetryableWriteError"}},
	} {
		t.Run(name, func(t *testing.T) {
			var cleared atomic.Int64
			inWorld(t, func(w *world) {
				client, cursor, release := w.largeReplies()
				defer release()
				began := time.Now()
				o := client.run(c.command(cursor))
				var labels []string
				if raw, err := o.LookupErr("errorLabels"); err == nil {
					_ = raw.Unmarshal(&labels)
				}
				if code, _ := o.Lookup("code").AsInt64OK(); code != c.code || !slices.Equal(labels, c.labels) || time.Since(began) != c.took {
					w.Errorf("after %v: %.300v", time.Since(began), o)
				}
				if cleared.Load() != 0 {
					w.Error("the pool of the member was cleared, which has answered")
				}
			}, func(c *router.Config) {
				c.Upstream.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
					if e.Type == event.ConnectionPoolCleared {
						cleared.Add(1)
					}
				}})
			})
		})
	}
}

func insertBytes(n int) bson.D {
	return command("insert", "c", e("documents", bson.A{d("a", strings.Repeat("x", n))}))
}

// Replies that wait hold connections to members: more than a quarter of a pool are refused at once.
func TestFewRepliesWaitForMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		_, _, release := w.largeReplies()
		w.twoOfFourRepliesWait()
		release()
		defer w.holdReplies()()
		w.twoOfFourRepliesWait() // those that have waited have given up their places
	}, poolOf(8))
}

// twoOfFourRepliesWait fails unless of four replies for which there is no memory two wait, as many as may with a pool of eight.
func (w *world) twoOfFourRepliesWait() {
	w.Helper()
	began := time.Now()
	var clients []*wireClient
	for range 4 {
		c := w.dial()
		c.send(command("find", "c", e("limit", 1)))
		clients = append(clients, c)
		<-time.After(time.Millisecond)
	}
	for _, i := range []int{2, 3, 0, 1} {
		reply, err := clients[i].receive()
		code, _ := reply.Lookup("code").AsInt64OK()
		if waited := time.Since(began) >= 10*time.Second; err != nil || code != 462 || waited != (i < 2) {
			w.Errorf("reply %d after %v: %d, %v", i, time.Since(began), code, err)
		}
	}
}

// A second attempt does not wait for the memory of the first one's reply, which has not come to its end.
func TestARetryGivesBackTheMemoryOfTheReplyBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.router.SetMemory(littleMemory)
		c := w.dial()
		c.must(insertBytes(200 << 10))
		w.script("find", mongotest.Fault{LoseReply: true, CutReplyAfter: 1000})
		began := time.Now()
		c.must(d("find", "c"))
		if took := time.Since(began); took >= time.Second || len(w.answered("find")) != 2 || w.router.MemoryInUse(littleMemory) {
			w.Errorf("the members %v after %v; memory is in use: %v", w.answered("find"), took, w.router.MemoryInUse(littleMemory))
		}
	})
}

// An operation that has waited out the window for a connection to a member is told so: no maxTimeMS has passed.
func TestTheWindowForAConnection(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set.Use("count", mongotest.Always(mongotest.Fault{Delay: time.Minute}))
		w.dial().send(d("count", "c"))
		<-time.After(time.Millisecond)
		began := time.Now()
		if o := w.dial().outcomeOf(d("find", "c")); o.Code != 133 || time.Since(began) != 20*time.Second {
			w.Errorf("after %v: %+v", time.Since(began), o)
		}
		began = time.Now()
		if o := w.dial().outcomeOf(d("find", "c"), e("maxTimeMS", 5000)); o.Code != 50 || time.Since(began) != 5*time.Second {
			w.Errorf("after %v: %+v", time.Since(began), o)
		}
	}, poolOf(1))
}

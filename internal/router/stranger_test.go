package router_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// stays reports whether a client is connected after it has sent, and a time has passed.
func stays(w *world, c *wireClient, after time.Duration, send ...[]byte) bool {
	w.Helper()
	sends(send...)(w, c)
	<-time.After(after)
	synctest.Wait()
	_, err := c.conn.Write(messageOf(w, d("ping", 1), 0))
	return err == nil
}

// A connection whose client does not log in does not stay for ever, unless its client sends hellos, as monitors do.
func TestAStrangerMayNotBeSilentForEver(t *testing.T) {
	ping := messageOf(t, d("ping", 1), 0)
	inPassThrough(t, func(w *world, _ *refusals) {
		monitor, streamed, polled, user := w.dial(), w.dial(), w.dial(), w.asUser("ann", "ann's")
		awaitedHello(wire.ExhaustAllowed)(w, streamed)
		polled.must(d("hello", 1))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 23 {
				<-time.After(time.Minute)
				if reply, err := monitor.try(document(bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})); err != nil || reply.Lookup("ok").AsInt64() != 1 {
					t.Errorf("a monitor: %v, %v", reply, err)
				}
			}
		}()
		if stays(w, w.dial(), 11*time.Minute) {
			w.Error("a client that said nothing is connected after 11 minutes")
		}
		if stays(w, w.dial(), 11*time.Minute, ping[:20]) {
			w.Error("a client that sent half a message is connected after 11 minutes")
		}
		if stays(w, polled, 0) {
			w.Error("a client that has said hello once is connected after 22 minutes")
		}
		<-done
		synctest.Wait()
		if n := w.router.Clients(); n != 3 {
			w.Errorf("%d clients are connected, want a monitor, one with a stream of hellos, and one that has logged in", n)
		}
		_ = streamed.conn.Close()
		synctest.Wait()
		if n := w.router.Clients(); n != 2 {
			w.Errorf("%d clients are connected after the one with a stream has left", n)
		}
		user.must(d("find", "c"))
	})
	inWorld(t, func(w *world) {
		if !stays(w, w.dial(), 11*time.Minute) {
			w.Error("a client that need not log in is disconnected")
		}
	})
}

// A hello of a stranger does not wait for longer than that, whatever it asks for.
func TestTheHelloOfAStrangerIsAnsweredInTime(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		began := time.Now()
		awaitedHello(0)(w, c) // for a day
		if _, err := c.receive(); err != nil || time.Since(began) > 11*time.Minute {
			w.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// Nor may it leave its replies unread for ever.
func TestAStrangerMustRead(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		long := messageOf(t, saslStart(strings.Repeat("x", 15_000), nil), 0) // its answer names the mechanism
		ended := make(chan error)
		go func() {
			_, err := c.conn.Write(bytes.Repeat(long, 600))
			ended <- err
		}()
		if err := <-ended; err == nil {
			w.Error("the router took all, and the client read nothing")
		}
		synctest.Wait()
		if n := w.router.Clients(); n != 0 {
			w.Errorf("%d clients are connected", n)
		}
	})
}

// What a stranger asks members by the router's user is the bare command.
func TestAStrangerSendsMembersNothingOfItsOwn(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		seen := make(chan bson.Raw, 10)
		w.set.Use("buildInfo", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			seen <- bytes.Clone(r.Body)
			return next(r)
		})
		command := bson.D{
			{Key: "buildInfo", Value: "x"},
			{Key: "lsid", Value: d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})},
			{Key: "txnNumber", Value: int64(1)},
			{Key: "startTransaction", Value: true},
			{Key: "autocommit", Value: false},
			{Key: "comment", Value: "x"},
			{Key: "$readPreference", Value: d("mode", "nearest")},
			{Key: "$clusterTime", Value: bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: 1 << 31}}}},
		}
		message := messageOf(t, command, 0, func(b []byte) []byte { return wire.AppendSequence(b, "documents", document(bson.D{})) })
		c := w.dial()
		sends(message)(w, c)
		if reply, err := c.receive(); err != nil || reply.Lookup("ok").AsInt64() != 1 {
			w.Fatalf("%v, %v", reply, err)
		}
		old := w.connectOld()
		if reply := old.run(command); reply.Lookup("ok").AsInt64() != 1 {
			w.Fatal(reply)
		}
		for range 2 {
			got := <-seen
			elements, err := got.Elements()
			if err != nil || elements[0].Key() != "buildInfo" || elements[0].Value().AsInt64() != 1 {
				w.Fatalf("%v, %v", got, err)
			}
			for _, e := range elements[1:] {
				if e.Key() != "$db" && e.Key() != "$clusterTime" {
					w.Errorf("members see %v", got)
				}
			}
			if t, _, ok := got.Lookup("$clusterTime", "clusterTime").TimestampOK(); ok && t == 1<<31 {
				w.Error("members see the stranger's time")
			}
		}
		sends(messageOf(t, d("buildInfo", 1), wire.MoreToCome), messageOf(t, d("hello", 1), 0))(w, c)
		if reply, err := c.receive(); err != nil || reply.Lookup("msg").Type == 0 {
			w.Errorf("after a command without a reply: %v, %v", reply, err)
		}
	})
}

// Strangers take no place among the operations that wait for a primary from a user, and have not many themselves.
func TestStrangersTakeNoPlaceOfUsers(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		const strangers = 130
		user := w.asUser("ann", "ann's")
		user.must(d("count", "c"))
		w.withoutPrimary()
		codes := make(chan int32, strangers)
		for range strangers {
			c := w.dial()
			go func() { codes <- c.outcomeOf(d("buildInfo", 1)).Code }()
		}
		synctest.Wait()
		if n := w.router.Waiting(); n != 100 || len(codes) != strangers-100 {
			w.Errorf("%d operations wait, %d were refused", n, len(codes))
		}
		user.send(d("count", "c"))
		synctest.Wait()
		if n := w.router.Waiting(); n != 101 {
			w.Errorf("%d operations wait with that of a user", n)
		}
		for i := range 3 {
			w.set.Restart(i)
		}
		if reply, err := user.receive(); err != nil || reply.Lookup("ok").AsInt64() != 1 {
			w.Errorf("the user: %v, %v", reply, err)
		}
		all := make(map[int32]int)
		for range strangers {
			all[<-codes]++
		}
		if all[0] != 100 || all[462] != strangers-100 {
			w.Errorf("the strangers got the codes %v", all)
		}
	}, func(cfg *router.Config) { cfg.MostWaiting = 1 })
}

// Strangers who stop in the middle of a message, and hellos that wait, take no memory from users.
func TestStrangersTakeNoMemoryFromUsers(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.router.SetMemory(littleMemory)
		ann := w.asUser("ann", "ann's")
		padding := e("comment", strings.Repeat("x", 15<<10))
		version := w.dial().run(d("hello", 1)).Lookup("topologyVersion")
		hello := command("hello", 1, padding, e("topologyVersion", version), e("maxAwaitTimeMS", 3_600_000))
		var waiting []*wireClient
		for i := range 20 {
			m := messageOf(w, hello, wire.ExhaustAllowed)
			if i%2 == 1 {
				m = wire.AppendQuery(nil, 3, 0, "app.$cmd", document(hello))
			}
			c := w.dial()
			sends(m)(w, c)
			waiting = append(waiting, c)
		}
		synctest.Wait()
		if w.router.MemoryInUse(littleMemory) {
			w.Error("hellos that wait hold memory")
		}
		for range 50 {
			sends(messageOf(w, command("ping", 1, padding), 0)[:2000])(w, w.dial())
		}
		synctest.Wait()
		began := time.Now()
		ann.must(command("insert", "c", e("documents", bson.A{d("a", strings.Repeat("x", 60<<10))})))
		if took := time.Since(began); took > 0 {
			w.Errorf("a user waited %v", took)
		}
		w.router.Quiesce()
		if reply, err := waiting[0].receive(); err != nil || codeIn(reply) != 91 {
			w.Errorf("a hello that waited is answered with %v, %v", reply, err)
		}
	})
}

package router_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The fields of hello that depend on what the client asks.
func TestTheFieldsOfHello(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		for _, h := range []struct {
			command bson.D
			has     string
			not     []string
		}{
			{d("hello", 1), "isWritablePrimary", []string{"ismaster", "helloOk", "serviceId", "setName", "hosts"}},
			{d("isMaster", 1), "ismaster", []string{"isWritablePrimary", "serviceId", "setName"}},
			{bson.D{{Key: "ismaster", Value: 1}, {Key: "helloOk", Value: true}}, "helloOk", nil},
			{bson.D{{Key: "hello", Value: 1}, {Key: "loadBalanced", Value: true}}, "serviceId", nil},
			{bson.D{{Key: "hello", Value: 1}, {Key: "loadBalanced", Value: false}}, "msg", []string{"serviceId"}},
		} {
			reply := c.run(h.command)
			if reply.Lookup(h.has).Type == 0 {
				w.Errorf("%v: %v has no %s", h.command, reply, h.has)
			}
			for _, name := range h.not {
				if reply.Lookup(name).Type != 0 {
					w.Errorf("%v: %v has %s", h.command, reply, name)
				}
			}
		}
		w.withoutPrimary()
		for i := range 3 {
			w.set.Kill(i)
		}
		<-time.After(time.Minute)
		reply := w.dial().run(d("hello", 1))
		if n := reply.Lookup("maxWireVersion").AsInt64(); n == 0 {
			w.Error("while no member is there, the wire version is 0")
		}
		if n, _ := reply.Lookup("logicalSessionTimeoutMinutes").AsInt64OK(); n == 0 {
			w.Errorf("while no member is there, clients are told that there are no sessions: %v", reply)
		}
	})
}

// A hello waits only for a change of the version that the router has.
func TestWhichHellosWait(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		version := c.run(d("hello", 1)).Lookup("topologyVersion").Document()
		process := version.Lookup("processId")
		for name, h := range map[string]struct {
			version any
			await   any
			took    time.Duration
		}{
			"its version":            {version, 5000, 5 * time.Second},
			"as a double":            {version, 5000.0, 5 * time.Second},
			"no time":                {version, 0, 0},
			"a negative time":        {version, -1, 0},
			"a time that is no time": {version, "5000", 0},
			"another process":        {bson.D{{Key: "processId", Value: bson.NewObjectID()}, {Key: "counter", Value: int64(0)}}, 5000, 0},
			"another counter":        {bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: int64(7)}}, 5000, 0},
			"no process":             {bson.D{{Key: "counter", Value: int64(0)}}, 5000, 0},
			"a process that is text": {bson.D{{Key: "processId", Value: "123456789012"}, {Key: "counter", Value: int64(0)}}, 5000, 0},
			"no document":            {5, 5000, 0},
		} {
			began := time.Now()
			c.must(d("hello", 1), bson.E{Key: "topologyVersion", Value: h.version}, bson.E{Key: "maxAwaitTimeMS", Value: h.await})
			if took := time.Since(began); took != h.took {
				w.Errorf("%s: it took %v, want %v", name, took, h.took)
			}
		}
	})
}

// The replies of a stream follow each other: each answers the one before. The last one, at the end of the router, is not followed.
func TestTheStreamOfHellos(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		hello := bson.D{
			{Key: "hello", Value: 1}, {Key: "topologyVersion", Value: c.run(d("hello", 1)).Lookup("topologyVersion")}, {Key: "maxAwaitTimeMS", Value: 1000},
		}
		sends(messageOf(w, hello, wire.ExhaustAllowed))(w, c)
		before := int32(7) // the requestID of messageOf
		for range 3 {
			if _, err := c.receive(); err != nil || !wire.MoreFollow(c.buf) {
				w.Fatalf("%v, more follow: %v", err, wire.MoreFollow(c.buf))
			}
			h, _ := wire.ParseHeader(c.buf)
			if h.ResponseTo != before {
				w.Errorf("a reply to %d, want %d", h.ResponseTo, before)
			}
			before = h.RequestID
		}
		began := time.Now()
		go w.router.Shutdown(w.Context())
		synctest.Wait()
		reply, err := c.receive()
		if code := reply.Lookup("code").AsInt64(); err != nil || code != 91 || wire.MoreFollow(c.buf) || time.Since(began) != 0 {
			w.Errorf("%v, %v, after %v, more follow: %v", reply, err, time.Since(began), wire.MoreFollow(c.buf))
		}
		c.must(d("count", "c")) // it goes on working
	})
}

package router_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A member never replies, and the client gives up: nothing of its operation stays, whatever the member does.
func TestALongOperationEndsWhenItsClientLeaves(t *testing.T) {
	var used atomic.Int64
	inWorld(t, func(w *world) {
		w.set.Use("count", mongotest.Always(mongotest.Fault{LoseReply: true, Silent: true}))
		c := w.dial()
		c.send(d("count", "c"))
		<-time.After(10 * time.Second)
		if used.Load() != 1 {
			w.Errorf("%d connections are in use while the operation runs", used.Load())
		}
		_ = c.conn.Close()
		<-time.After(time.Second)
		if w.router.Clients() != 0 || used.Load() != 0 {
			w.Errorf("%d clients are left, and %d connections in use", w.router.Clients(), used.Load())
		}
	}, inUse(&used))
}

// What a client sends while its operation takes long is answered afterwards, in order.
func TestWhatComesDuringALongOperationIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set.Use("count", mongotest.FaultOnce(mongotest.Fault{Delay: 10 * time.Second}))
		c := w.dial()
		c.send(d("count", "c"))
		for range 5 {
			<-time.After(time.Second)
			c.send(bson.D{{Key: "ping", Value: 1}})
		}
		for i := range 6 {
			reply, err := c.receive()
			if err != nil || reply.Lookup("ok").AsFloat64() != 1 || (i == 0) != (reply.Lookup("n").Type != 0) {
				w.Errorf("reply %d: %v, %v", i, reply, err)
			}
		}
	})
}

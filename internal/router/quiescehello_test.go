package router_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Who hears of the quiesce, and when: a driver's monitor at once, a new connection only when its driver can have known, and a load-balanced
// driver never, for it cannot choose another router.
func TestWhoHearsOfTheQuiesce(t *testing.T) {
	inWorld(t, func(w *world) {
		hello, balanced := d("hello", 1), e("loadBalanced", true)
		known := w.dial()
		version := known.run(hello).Lookup("topologyVersion")
		heard := make(chan bson.Raw)
		monitor := w.dial()
		monitor.send(hello, e("topologyVersion", version), e("maxAwaitTimeMS", 10_000))
		go func() {
			reply, _ := monitor.receive()
			heard <- reply
		}()
		<-time.After(time.Second)
		quiesced := time.Now()
		w.router.Quiesce()
		if reply := <-heard; codeIn(reply) != 91 || time.Since(quiesced) != 0 {
			w.Errorf("after %v the monitor heard %v", time.Since(quiesced), reply)
		}
		fresh := w.dial()
		if reply := fresh.run(hello); codeIn(reply) != 0 || !reply.Lookup("topologyVersion").Equal(version) {
			w.Errorf("at the begin of the quiesce a new connection hears %v", reply)
		}
		fresh.must(d("count", "c"))
		for name, c := range map[string]*wireClient{"the same connection, again": fresh, "an old connection": known} {
			if reply := c.run(hello); codeIn(reply) != 91 {
				w.Errorf("%s hears %v", name, reply)
			}
		}
		<-time.After(400 * time.Millisecond)
		if reply := w.dial().run(hello); codeIn(reply) != 91 {
			w.Errorf("later a new connection hears %v", reply)
		}
		for range 2 {
			c := w.dial()
			if id := w.serviceID(c, balanced); id.IsZero() {
				w.Error("a load-balanced driver hears of the quiesce")
			}
			if reply := c.run(hello); codeIn(reply) != 0 {
				w.Errorf("a program asks a load-balanced driver for hello, and hears %v", reply)
			}
		}
	})
}

func codeIn(reply bson.Raw) int32 {
	code, _ := reply.Lookup("code").Int32OK()
	return code
}

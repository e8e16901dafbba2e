package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Shutdown waits for the clients: at most for the time of quiesce, or until its context ends.
func TestHowLongAShutdownTakes(t *testing.T) {
	const step = 100 * time.Millisecond // more than how often it looks
	for name, c := range map[string]struct {
		leaves time.Duration // 0: never
		limit  time.Duration
		took   time.Duration
	}{
		"nobody leaves":     {0, time.Hour, 15 * time.Second},
		"the client leaves": {3 * time.Second, time.Hour, 3 * time.Second},
		"the context ends":  {0, time.Second, time.Second},
	} {
		inWorld(t, func(w *world) {
			client := w.dial()
			client.must(d("ping", 1))
			synctest.Wait()
			if c.leaves > 0 {
				time.AfterFunc(c.leaves, func() { _ = client.conn.Close() })
			}
			ctx, cancel := context.WithTimeout(w.Context(), c.limit)
			defer cancel()
			began := time.Now()
			w.router.Shutdown(ctx)
			if took := time.Since(began); took < c.took || took > c.took+step {
				w.Errorf("%s: it took %v, want %v", name, took, c.took)
			}
			if n := w.router.Clients(); n != 0 {
				w.Errorf("%s: %d clients are connected", name, n)
			}
		})
	}
}

// Load-balanced clients of short lives come until the balancer knows that the router ends: it does not end before, although nobody is connected.
func TestAShutdownWaitsForTheBalancer(t *testing.T) {
	inWorld(t, func(w *world) {
		life := func() {
			c := w.dial()
			c.must(d("hello", 1), e("loadBalanced", true))
			c.must(d("count", "c"))
			_ = c.conn.Close()
			synctest.Wait()
		}
		life()
		began := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			w.router.Shutdown(w.Context())
			ended <- time.Since(began)
		}()
		for range 7 {
			<-time.After(time.Second)
			life()
		}
		if took := <-ended; took < 7500*time.Millisecond || took > 7600*time.Millisecond {
			w.Errorf("the shutdown took %v, want half of the quiesce", took)
		}
	})
}

// A driver has chosen the router before its monitor heard of the quiesce and left: its connection is still welcome.
func TestAShutdownWaitsForWhoIsOnTheWay(t *testing.T) {
	inWorld(t, func(w *world) {
		monitor := w.dial()
		monitor.must(d("hello", 1))
		_ = monitor.conn.Close()
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			w.router.Shutdown(w.Context())
			close(ended)
		}()
		<-time.After(200 * time.Millisecond)
		c := w.dial()
		c.must(d("hello", 1))
		c.must(d("count", "c"))
		_ = c.conn.Close()
		<-ended
	})
}

// Close ends a quiesce.
func TestACloseEndsAShutdown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.dial().must(d("hello", 1), e("loadBalanced", true))
		ended := make(chan struct{})
		go func() {
			w.router.Shutdown(w.Context())
			close(ended)
		}()
		<-time.After(time.Second)
		began := time.Now()
		w.router.Close()
		<-ended
		if took := time.Since(began); took > 0 {
			w.Errorf("it took %v", took)
		}
	})
}

// A client that goes on to the end of the quiesce gets the reply to each operation that is done.
func TestWhatRunsAtTheEndIsAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: 300 * time.Millisecond}))
		c := w.dial()
		c.must(d("ping", 1))
		go w.router.Shutdown(w.Context())
		answered := int64(0)
		for ; ; answered++ {
			if reply, err := c.ask(command("insert", "c", e("documents", bson.A{d("_id", answered)})), "app"); err != nil {
				break
			} else if reply.Lookup("ok").AsFloat64() != 1 {
				w.Fatal(reply)
			}
		}
		<-time.After(3 * time.Second)
		documents, err := w.set.Command(w.set.Primary(), "app", d("count", "c"))
		if err != nil {
			w.Fatal(err)
		}
		if done := documents.Lookup("n").AsInt64(); done != answered || done < 20 {
			w.Errorf("%d inserts were done, and %d answered", done, answered)
		}
	}, func(c *router.Config) { c.Quiesce = 10 * time.Second })
}

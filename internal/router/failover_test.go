package router_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest"
)

// span is one operation of a client that never retries.
type span struct{ began, ended time.Time }

// failover is what 200 clients see of a change of the primary.
type failover struct {
	errors      int
	operations  int
	first, last time.Duration // from the new primary until the first, and the last, of the operations that waited were answered
}

// These clients send what has no session and no number: a server alone would lose it, or do it twice.
func (w *world) failover(change func()) failover {
	const clients = 200
	var (
		mu    sync.Mutex
		spans []span
		f     failover
		all   sync.WaitGroup
	)
	ctx, stop := context.WithCancel(w.Context())
	for i := range clients {
		c := w.dial()
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s := span{began: time.Now()}
				reply, err := c.try(operation(i, n))
				s.ended = time.Now()
				mu.Lock()
				f.operations++
				spans = append(spans, s)
				if err != nil || reply.Lookup("ok").AsFloat64() != 1 || reply.Lookup("writeErrors").Type != 0 {
					f.errors++
					w.Errorf("operation %d of client %d: %v, %v", n, i, reply, err)
				}
				mu.Unlock()
				<-time.After(20 * time.Millisecond)
			}
		})
	}
	<-time.After(150 * time.Millisecond)
	before := w.set.Term()
	change()
	for w.set.Term() == before {
		<-time.After(100 * time.Microsecond)
	}
	if _, err := w.set.WaitPrimary(ctx); err != nil {
		w.Fatal(err)
	}
	writable := time.Now()
	<-time.After(150 * time.Millisecond)
	stop()
	all.Wait()
	f.first, f.last = waited(spans, writable)
	return f
}

// operation returns a write of one document for two of three, and a read for the third.
func operation(client, n int) []byte {
	command := bson.D{{Key: "count", Value: "c"}, {Key: "$db", Value: "app"}}
	if n%3 != 0 {
		document := d("_id", fmt.Sprint(client, " ", n))
		command = bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{document}}, {Key: "$db", Value: "app"}}
	}
	b, err := bson.Marshal(command)
	if err != nil {
		panic(err)
	}
	return b
}

// waited returns after which time the first and the last operation ended that had begun before a moment.
func waited(spans []span, moment time.Time) (first, last time.Duration) {
	var after []time.Duration
	for _, s := range spans {
		if s.began.Before(moment) && !s.ended.Before(moment) {
			after = append(after, s.ended.Sub(moment))
		}
	}
	if len(after) == 0 {
		return 0, 0
	}
	return slices.Min(after), slices.Max(after)
}

func TestFiguresOfAFailover(t *testing.T) {
	latency := memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: 1}
	set := []mongotest.Option{mongotest.ElectionTimeout(200 * time.Millisecond), mongotest.Latency(latency.MinLatency, latency.MaxLatency)}
	var worst failover
	for name, change := range map[string]func(w *world){
		"the primary steps down": func(w *world) {
			if err := w.set.StepDown(); err != nil {
				w.Error(err)
			}
		},
		"the primary is killed": func(w *world) { w.set.Kill(w.set.Primary()) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOf(t, latency, set, func(w *world) {
				f := w.failover(func() { change(w) })
				t.Logf("%+v", f)
				worst.errors += f.errors
				worst.first, worst.last = max(worst.first, f.first), max(worst.last, f.last)
				if f.first == 0 || f.first > 5*time.Millisecond || f.last > 25*time.Millisecond {
					t.Errorf("the first that waited was answered after %v, the last after %v", f.first, f.last)
				}
			})
		})
	}
	fmt.Printf("figure router-failover-errors %d\n", worst.errors)
	fmt.Printf("figure router-failover-first-ms %.1f\n", worst.first.Seconds()*1000)
	fmt.Printf("figure router-failover-last-ms %.1f\n", worst.last.Seconds()*1000)
}

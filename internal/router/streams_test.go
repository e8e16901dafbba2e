package router_test

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest"
)

var openStreams = flag.Int("streams", 100, "change streams of the figure router-streams-find-p99-ratio")

// times are those of operations, the shortest first.
type times []time.Duration

func (t times) percentile(n int) time.Duration { return t[(len(t)-1)*n/100] }

// finds returns how long the finds of 20 clients take.
func (w *world) finds() times {
	var mu sync.Mutex
	var took times
	var all sync.WaitGroup
	for range 20 {
		c := w.dial()
		all.Go(func() {
			for range 100 {
				began := time.Now()
				if _, err := c.ask(command("find", "c", e("limit", 1)), "app"); err != nil {
					w.Error(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
				<-time.After(5 * time.Millisecond)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// watch opens change streams that ask for more until stop is closed. Each notes how long after an insert it gets the event.
func (w *world) watch(n int, stop <-chan struct{}, inserted func() time.Time) (delays func() times) {
	var mu sync.Mutex
	var all times
	var ended sync.WaitGroup
	for range n {
		c := w.dial()
		id := c.run(changeStream).Lookup("cursor", "id").AsInt64()
		ended.Go(func() {
			for {
				reply, err := c.ask(command("getMore", id, e("collection", "c")), "app")
				if err != nil || reply.Lookup("ok").AsFloat64() != 1 {
					w.Errorf("getMore: %v, %v", reply, err)
					return
				}
				if events, _ := reply.Lookup("cursor", "nextBatch").Array().Values(); len(events) > 0 {
					mu.Lock()
					all = append(all, time.Since(inserted()))
					mu.Unlock()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	return func() times {
		ended.Wait()
		slices.Sort(all)
		return all
	}
}

// A thousand open change streams on 20 connections to each member leave a find its time. What they cost is their own time: an event comes later.
func TestFigureOfOpenChangeStreams(t *testing.T) {
	clients := memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: 1}
	inWorldOf(t, clients, []mongotest.Option{mongotest.Latency(200*time.Microsecond, time.Millisecond)}, func(w *world) {
		w.fill(1)
		alone := w.finds()
		stop := make(chan struct{})
		var mu sync.Mutex
		var at time.Time
		delays := w.watch(*openStreams, stop, func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return at
		})
		beside := w.finds()
		mu.Lock()
		at = time.Now()
		mu.Unlock()
		w.dial().must(command("insert", "c", e("documents", bson.A{d("_id", "event")})))
		<-time.After(10 * time.Second)
		close(stop)
		got := delays()
		ratio := float64(beside.percentile(99)) / float64(alone.percentile(99))
		w.Logf("a find: p50 %v, p99 %v; beside %d change streams p50 %v, p99 %v", alone.percentile(50), alone.percentile(99), *openStreams,
			beside.percentile(50), beside.percentile(99))
		if len(got) != *openStreams {
			w.Fatalf("%d of %d change streams get the event", len(got), *openStreams)
		}
		w.Logf("an event comes after p50 %v, at most %v", got.percentile(50), got[len(got)-1])
		fmt.Printf("figure router-streams-find-p99-ratio %.2f\n", ratio)
		if ratio > 2 || got[len(got)-1] > 3*time.Second {
			w.Errorf("the p99 of a find is %.2f times as long, and an event comes after %v", ratio, got[len(got)-1])
		}
	}, poolOf(20))
}

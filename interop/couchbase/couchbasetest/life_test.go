package couchbasetest

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// work writes with gocb from some goroutines until it is told to stop, and returns the errors.
func work(t *testing.T, docs *gocb.Collection) (stop func() []error) {
	t.Helper()
	var ended atomic.Bool
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for w := range 4 {
		wg.Go(func() {
			for i := 0; !ended.Load(); i++ {
				key := fmt.Sprintf("w%d-%d", w, i%200)
				_, err := docs.Upsert(key, i, nil)
				if err == nil {
					_, err = docs.Get(key, nil)
				}
				if err == nil {
					_, err = docs.Binary().Increment(fmt.Sprintf("n%d", w), &gocb.IncrementOptions{Initial: 1, Delta: 1})
				}
				if err != nil {
					mu.Lock()
					errs = append(errs, fmt.Errorf("%s: %w", key, err))
					mu.Unlock()
				}
			}
		})
	}
	return func() []error {
		ended.Store(true)
		wg.Wait()
		return errs
	}
}

func TestGocbSurvivesARebalanceWithoutAnError(t *testing.T) {
	for _, version := range []string{"6.6", "8.0"} {
		t.Run(version, func(t *testing.T) {
			c := couchbasetest.RunT(t, couchbasetest.Nodes(2), couchbasetest.VBuckets(64), couchbasetest.Version(version))
			stop := work(t, connect(t, c).DefaultCollection())
			_, err := c.AddNode()
			must(t, "AddNode", err, nil)
			r, err := c.StartRebalance()
			must(t, "StartRebalance", err, nil)
			moves := r.Left()
			for r.Move() {
				<-time.After(2 * time.Millisecond)
			}
			r.Finish()
			if moves < 30 {
				t.Errorf("only %d of 64 vbuckets have moved", moves)
			}
			must(t, "Rebalance", c.Rebalance(0), nil)
			for _, err := range stop() {
				t.Error(err)
			}
			if opened := c.Counters(2).Requests[0x01]; opened == 0 {
				t.Error("the new node got no write")
			}
		})
	}
}

func TestGocbSurvivesAFailover(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.VBuckets(64))
	docs := connect(t, c).DefaultCollection()
	for i := range 64 {
		_, err := docs.Upsert(fmt.Sprint("d", i), i, &gocb.UpsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority})
		must(t, "Upsert", err, nil)
	}
	stop := work(t, docs)
	c.Kill(1)
	must(t, "Failover", c.Failover(1), nil)
	<-time.After(100 * time.Millisecond)
	for _, err := range stop() {
		inFlight := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, gocb.ErrRequestCanceled) // when the node died
		if !inFlight && !errors.Is(err, gocb.ErrAmbiguousTimeout) {                                                         // gocb does not always end what waits for a node that left
			t.Error(err)
		}
	}
	for i := range 64 {
		found, err := docs.Get(fmt.Sprint("d", i), nil)
		must(t, "Get after the failover", err, nil)
		var n int
		if err := found.Content(&n); err != nil || n != i {
			t.Errorf("found %d, %v; want %d", n, err, i)
		}
	}
}

func TestGocbSeesFaults(t *testing.T) {
	c := couchbasetest.RunT(t)
	docs := connect(t, c).DefaultCollection()
	c.Use(0x01, couchbasetest.Times(3, couchbasetest.Fault{Status: 0x86}))
	_, err := docs.Upsert("a", 1, nil)
	must(t, "Upsert after temporary failures", err, nil)
	if n := c.Counters().Requests[0x01]; n != 4 {
		t.Errorf("%d SETs were sent, want 4", n)
	}
	c.Use(0x05, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true, CutReplyAfter: 10}))
	_, err = docs.Binary().Increment("n", &gocb.IncrementOptions{Initial: 1, Delta: 1})
	must(t, "Increment whose reply is lost", err, io.EOF)
	if n := c.Applied(0x05, "n"); n != 1 {
		t.Errorf("the increment was applied %d times, want once", n)
	}
	c.Use(0x01, couchbasetest.OnKey("b", couchbasetest.FaultOnce(couchbasetest.Fault{Status: 0xa3})))
	_, err = docs.Upsert("b", 1, nil)
	must(t, "Upsert that is ambiguous", err, gocb.ErrDurabilityAmbiguous)
}

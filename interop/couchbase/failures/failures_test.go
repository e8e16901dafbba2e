package failures

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The commands that the scenes look at.
const (
	opGet       couchbasetest.Opcode = 0x00
	opUpsert    couchbasetest.Opcode = 0x01
	opIncrement couchbasetest.Opcode = 0x05
	opLookup    couchbasetest.Opcode = 0xd0
)

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func cutLookup(w *world) string {
	w.connect("", nil)
	w.server.Use(opLookup, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true, CutReplyAfter: 10}))
	_, err := w.docs.LookupIn("known", []gocb.LookupInSpec{gocb.GetSpec("a", nil)}, nil)
	return w.describe(err) + ", " + plural(w.server.Counters().Requests[opLookup], "request")
}

func cutIncrement(w *world) string {
	w.connect("", nil)
	w.server.Use(opIncrement, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true, CutReplyAfter: 10}))
	_, err := w.docs.Binary().Increment("n", &gocb.IncrementOptions{Initial: 1, Delta: 1})
	applied := "applied " + plural(int64(w.server.Applied(opIncrement, "n")), "time")
	return w.describe(err) + ", " + plural(w.server.Counters().Requests[opIncrement], "request") + ", " + strings.Replace(applied, "1 time", "once", 1)
}

// openBreaker opens the breaker by slow writes of one document, and then writes another one.
func openBreaker(w *world) string {
	w.connect("", func(o *gocb.ClusterOptions) {
		o.CircuitBreakerConfig = gocb.CircuitBreakerConfig{
			VolumeThreshold: 4, ErrorThresholdPercentage: 40, SleepWindow: 300 * time.Millisecond, RollingWindow: time.Minute,
			CanaryTimeout: time.Second,
		}
	})
	w.server.Use(opUpsert, couchbasetest.OnKey("slow", couchbasetest.Always(couchbasetest.Fault{Delay: time.Second})))
	for range 8 {
		if _, err := w.docs.Upsert("slow", 1, &gocb.UpsertOptions{Timeout: 30 * time.Millisecond}); err == nil {
			w.Error("a slow write succeeded")
		}
	}
	before := w.server.Counters().Requests[opUpsert]
	if _, err := w.docs.Upsert("a", 1, &gocb.UpsertOptions{Timeout: 50 * time.Millisecond}); err == nil || w.server.Counters().Requests[opUpsert] != before {
		w.Errorf("the breaker was not open: %v", err)
	}
	_, err := w.docs.Upsert("a", 1, &gocb.UpsertOptions{Timeout: patience, RetryStrategy: steady(10 * time.Millisecond)})
	return w.describe(err)
}

// fullQueue has 64 callers write documents to a node that reads nothing for a while, by a queue of two.
func fullQueue(w *world) string {
	w.connect("?max_queue_size=2", nil)
	w.server.Pause(0)
	large := strings.Repeat("x", 1<<20)
	var callers sync.WaitGroup
	var failed atomic.Int64
	var once sync.Once
	for i := range 64 {
		callers.Go(func() {
			_, err := w.docs.Upsert(fmt.Sprint("d", i), large, &gocb.UpsertOptions{Timeout: patience, RetryStrategy: steady(10 * time.Millisecond)})
			if err != nil {
				failed.Add(1)
				once.Do(func() { w.Logf("returned: %v", err) })
			}
		})
	}
	<-time.After(300 * time.Millisecond)
	w.server.Resume(0)
	callers.Wait()
	return fmt.Sprintf("%d of 64 failed", failed.Load())
}

func views(status int) func(*world) string {
	return func(w *world) string {
		w.connect("", nil)
		when := couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Views}, Path: "/default/_design/*"}
		w.server.HTTP().Script(when, 0, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{Rows: []any{map[string]any{"id": "a", "key": "a", "value": 1}}}})
		w.server.HTTP().Inject(when, 2, 0, couchbasetest.HTTPFault{Status: status, Header: map[string][]string{"Location": {"/elsewhere"}}, Body: `{"error":"busy","reason":"moving"}`})
		rows, err := w.client.Bucket("default").ViewQuery("design", "view", &gocb.ViewOptions{Timeout: 5 * time.Second})
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
		return w.describe(err) + ", " + plural(int64(len(w.server.HTTP().Requests(when))), "request")
	}
}

// applied says whether the upsert of "a" was applied.
func (w *world) applied() string {
	if w.server.Applied(opUpsert, "a") > 0 {
		return "applied"
	}
	return "not applied"
}

func temporaryFailure(w *world) string {
	w.connect("", nil)
	w.server.Use(opUpsert, couchbasetest.Always(couchbasetest.Fault{Status: 0x86}))
	_, err := w.docs.Upsert("a", 1, &gocb.UpsertOptions{Timeout: 300 * time.Millisecond})
	return w.describe(err) + "; " + w.applied()
}

func neverSent(w *world) string {
	w.connect("", nil)
	w.server.Kill(0)
	_, err := w.docs.Get("known", &gocb.GetOptions{Timeout: 300 * time.Millisecond}) // the client has seen the end of its connection
	if !errors.Is(err, gocb.ErrTimeout) {
		w.Logf("get: %v", err)
	}
	_, err = w.docs.Upsert("a", 1, &gocb.UpsertOptions{Timeout: 300 * time.Millisecond})
	return w.describe(err) + "; " + w.applied()
}

func wrongPassword(w *world) string {
	w.server = couchbasetest.RunT(w.T)
	w.open("", gocb.ClusterOptions{Username: w.server.Username(), Password: "wrong"})
	began := time.Now()
	_, err := w.docs.Get("known", nil)
	took := time.Since(began)
	w.Logf("after %v", took)
	if took > time.Second {
		return w.describe(err) + ", later"
	}
	return w.describe(err) + ", within a second"
}

func get(ctx context.Context, docs *gocb.Collection) error {
	_, err := docs.Get("known", &gocb.GetOptions{Context: ctx})
	return err
}

func upsert(ctx context.Context, docs *gocb.Collection) error {
	_, err := docs.Upsert("known", 1, &gocb.UpsertOptions{Context: ctx})
	return err
}

func contextDeadline(do func(context.Context, *gocb.Collection) error) func(*world) string {
	return func(w *world) string {
		w.connect("", nil)
		w.server.Use(couchbasetest.AnyOpcode, couchbasetest.Always(couchbasetest.Fault{Delay: time.Second}))
		ctx, cancel := context.WithTimeout(w.Context(), 100*time.Millisecond)
		defer cancel()
		return w.describe(do(ctx, w.docs))
	}
}

func queryTimeout(readonly bool) func(*world) string {
	return func(w *world) string {
		w.connect("", nil)
		w.server.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}}, 0, couchbasetest.HTTPScript{
			Answer: couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 1080, Message: "Timeout 75s exceeded"}}},
		})
		statement := "UPDATE x SET a = 1"
		if readonly {
			statement = "SELECT 1"
		}
		rows, err := w.client.Query(statement, &gocb.QueryOptions{Adhoc: true, Readonly: readonly, Timeout: 5 * time.Second})
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
		return w.describe(err)
	}
}

// cancelledWaits counts the goroutines that are left 200 ms after the last operation has returned. The next retry is 10 s away.
func cancelledWaits(w *world) string {
	w.connect("", nil)
	w.server.Use(opUpsert, couchbasetest.Always(couchbasetest.Fault{Status: 0x09}))
	ctx, cancel := context.WithCancel(w.Context())
	<-time.After(100 * time.Millisecond) // connections at rest may have a goroutine that reads
	before := runtime.NumGoroutine()
	var callers sync.WaitGroup
	var canceled atomic.Int64
	for i := range 200 {
		callers.Go(func() {
			_, err := w.docs.Upsert(fmt.Sprint("d", i), 1, &gocb.UpsertOptions{Context: ctx, Timeout: patience, RetryStrategy: steady(10 * time.Second)})
			if errors.Is(err, gocb.ErrRequestCanceled) {
				canceled.Add(1)
			}
		})
	}
	for w.server.Counters().Requests[opUpsert] < 201 { // one by connect
		<-time.After(time.Millisecond)
	}
	<-time.After(100 * time.Millisecond) // the answers have come, too
	cancel()
	callers.Wait()
	<-time.After(200 * time.Millisecond)
	return fmt.Sprintf("%d request canceled, %d goroutines left", canceled.Load(), max(0, runtime.NumGoroutine()-before))
}

func failingStrategy(w *world) string {
	w.connect("", nil)
	w.server.Use(opUpsert, couchbasetest.Always(couchbasetest.Fault{Status: 0x09}))
	_, err := w.docs.Upsert("a", 1, &gocb.UpsertOptions{Timeout: 300 * time.Millisecond, RetryStrategy: failing{}})
	return w.describe(err)
}

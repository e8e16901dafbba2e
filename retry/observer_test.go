package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// watcher is an observer that keeps the events.
type watcher struct {
	mu     sync.Mutex
	events []retry.Event
	named  []any // the values of the contexts
}

type nameKey struct{}

func (w *watcher) Observe(ctx context.Context, e retry.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	w.named = append(w.named, ctx.Value(nameKey{}))
}

func (w *watcher) lines() []string {
	var lines []string
	for _, e := range w.events {
		line := fmt.Sprintf("%v %d", e.Kind, e.Attempt)
		if e.Failure.Err != nil {
			line += fmt.Sprintf(": %v", e.Reason)
		}
		if e.Kind != retry.EventAttemptFailed && e.StopReason != retry.StopNone {
			line += fmt.Sprintf(", %v, %v", e.StopReason, e.Delay)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTheEventsOfAnOperation(t *testing.T) {
	const tenth = 100 * time.Millisecond
	notSent := retry.Failure{Err: io.EOF, Stage: retry.StageBeforeSending, Reason: mongoreason.PoolCleared, Endpoint: "b:2"}
	moved := retry.Failure{Err: io.EOF, Stage: retry.StageAnswered, Reason: couchbasereason.KVNotMyVBucket}
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		mode     retry.DeadlineMode
		cancel   time.Duration // 0: never
		deadline time.Duration // 0: none
		open     bool          // the breaker
		failures []retry.Failure
		want     []string
	}{
		{name: "success at once", strategy: retry.RetryOnce(), want: []string{"ended 0"}},
		{
			name: "success of the retry", strategy: afterEach(tenth), failures: []retry.Failure{inFlight},
			want: []string{"attempt failed 0: NETWORK_ERROR", "decided 0: NETWORK_ERROR, retried, 100ms", "ended 1"},
		},
		{
			name: "failure of both attempts", strategy: retry.RetryOnce(), failures: []retry.Failure{inFlight, notSent},
			want: []string{
				"attempt failed 0: NETWORK_ERROR", "decided 0: NETWORK_ERROR, retried, 0s",
				"attempt failed 1: POOL_CLEARED", "decided 1: POOL_CLEARED, attempts used up, 0s",
				"ended 1: POOL_CLEARED, attempts used up, 0s",
			},
		},
		{
			name: "failure for an unknown reason", strategy: retry.RetryOnce(), failures: []retry.Failure{{Err: io.EOF}},
			want: []string{"attempt failed 0: UNKNOWN", "decided 0: UNKNOWN, not retryable, 0s", "ended 0: UNKNOWN, not retryable, 0s"},
		},
		{
			name: "always retried", strategy: retry.Limited(1, retry.UntilDeadline()), failures: []retry.Failure{moved, moved},
			want: []string{
				"attempt failed 0: KV_NOT_MY_VBUCKET", "decided 0: KV_NOT_MY_VBUCKET, retried, 1ms",
				"attempt failed 1: KV_NOT_MY_VBUCKET", "decided 1: KV_NOT_MY_VBUCKET, retried, 10ms", "ended 2",
			},
		},
		{
			name: "the breaker stops the first attempt", strategy: retry.RetryOnce(), open: true,
			want: []string{
				"attempt failed 0: CIRCUIT_BREAKER_OPEN", "decided 0: CIRCUIT_BREAKER_OPEN, breaker open, 0s",
				"ended 0: CIRCUIT_BREAKER_OPEN, breaker open, 0s",
			},
		},
		{
			name: "a delay longer than the breaker is open", strategy: afterEach(time.Minute), open: true,
			want: []string{"attempt failed 0: CIRCUIT_BREAKER_OPEN", "decided 0: CIRCUIT_BREAKER_OPEN, retried, 1m0s", "ended 1"},
		},
		{
			name: "a wait that is cancelled", strategy: afterEach(tenth), cancel: tenth / 2, failures: []retry.Failure{inFlight},
			want: []string{
				"attempt failed 0: NETWORK_ERROR", "decided 0: NETWORK_ERROR, retried, 100ms",
				"ended 0: NETWORK_ERROR, cancelled, 100ms",
			},
		},
		{
			name: "a delay that would pass the deadline", strategy: afterEach(tenth), deadline: tenth / 2, failures: []retry.Failure{inFlight},
			want: []string{
				"attempt failed 0: NETWORK_ERROR", "decided 0: NETWORK_ERROR, deadline would pass, 0s",
				"ended 0: NETWORK_ERROR, deadline would pass, 0s",
			},
		},
		{
			name: "a delay capped at the deadline", strategy: afterEach(tenth), deadline: tenth / 2, mode: retry.DeadlineCapDelay,
			failures: []retry.Failure{inFlight},
			want: []string{
				"attempt failed 0: NETWORK_ERROR", "decided 0: NETWORK_ERROR, deadline would pass, 50ms",
				"ended 0: NETWORK_ERROR, deadline would pass, 50ms",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watcher{}
				// The breaker opens only where the case wants it open.
				judge := func(f retry.Failure) retry.Health {
					return map[string]retry.Health{"bad": retry.HealthBad}[f.Endpoint]
				}
				breaker := &retry.BreakerOptions{Volume: 1, Percent: 1, Window: time.Hour, OpenTimeout: time.Minute, Judge: judge}
				e := engine(t, retry.Options{Strategy: c.strategy, DeadlineMode: c.mode, Observer: w, Breaker: breaker})
				if c.open {
					_ = e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure {
						return retry.Failure{Err: io.EOF, Endpoint: "bad"}
					})
					w.events, w.named = nil, nil
				}
				ctx := retry.WithData(context.WithValue(t.Context(), nameKey{}, "the caller's"), "the data")
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				if c.deadline > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				err := e.Do(ctx, retry.Operation{Idempotency: retry.Idempotent}, func(_ context.Context, n int) (f retry.Failure) {
					if n < len(c.failures) {
						f = c.failures[n]
					}
					return f
				})
				if got := w.lines(); !slices.Equal(got, c.want) {
					t.Errorf("events %q, want %q", got, c.want)
				}
				checkEvents(t, w, err)
			})
		})
	}
}

// checkEvents checks the events against the error.
func checkEvents(t *testing.T, w *watcher, err error) {
	t.Helper()
	var e *retry.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	for i, event := range w.events {
		if event.Data != "the data" || w.named[i] != "the caller's" {
			t.Errorf("event %d has the data %v and the context of %v", i, event.Data, w.named[i])
		}
		if last := event.Kind == retry.EventEnded; last && !errors.Is(event.Err, err) || !last && event.Err != nil {
			t.Errorf("event %d has the error %v; the operation ended with %v", i, event.Err, err)
		}
		if e == nil || event.Attempt >= len(e.Attempts) {
			continue
		}
		record := e.Attempts[event.Attempt]
		want := record
		switch event.Kind {
		case retry.EventAttemptFailed:
			want.StopReason, want.Delay = retry.StopNone, 0
		case retry.EventDecided:
			if record.StopReason == retry.StopCancelled {
				want.StopReason = retry.NotStopped // the decision before the wait was cancelled
			}
		case retry.EventEnded:
		}
		if event.Record != want {
			t.Errorf("event %d has %+v, and the error %+v", i, event.Record, want)
		}
		if record.Idempotency != retry.Idempotent {
			t.Errorf("attempt %d is %v", event.Attempt, record.Idempotency)
		}
	}
}

func TestAnOperationsDataHasPrecedenceOverItsContexts(t *testing.T) {
	w := &watcher{}
	e := engine(t, retry.Options{Strategy: retry.RetryOnce(), Observer: w})
	ctx := retry.WithData(t.Context(), "the context's")
	for _, op := range []retry.Operation{{Data: "its own"}, {}} {
		attempt, _ := script(inFlight)
		if err := e.Do(ctx, op, attempt); err != nil {
			t.Fatal(err)
		}
	}
	var got []any
	for _, e := range w.events {
		got = append(got, e.Data)
	}
	if want := []any{"its own", "its own", "its own", "the context's", "the context's", "the context's"}; !slices.Equal(got, want) {
		t.Errorf("data %v, want %v", got, want)
	}
}

func TestTheEventsOfConcurrentOperationsAreInOrder(t *testing.T) {
	const operations = 50
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{}
		e := engine(t, retry.Options{Strategy: retry.Limited(3, retry.BestEffort(retry.BackoffOptions{})), Observer: w})
		var all sync.WaitGroup
		for i := range operations {
			all.Go(func() {
				_ = e.Do(t.Context(), retry.Operation{Data: i}, func(context.Context, int) retry.Failure { return inFlight })
			})
		}
		all.Wait()
		events := map[any][]string{}
		for _, e := range w.events {
			events[e.Data] = append(events[e.Data], fmt.Sprint(e.Kind, e.Attempt))
		}
		want := []string{
			"attempt failed 0", "decided 0", "attempt failed 1", "decided 1", "attempt failed 2", "decided 2", "ended 2",
		}
		for i := range operations {
			if !slices.Equal(events[i], want) {
				t.Errorf("operation %d: events %q, want %q", i, events[i], want)
			}
		}
	})
}

// failures is a watcher of failures only.
type failures struct{ watcher }

func (*failures) OnlyFailures() {}

func TestAnObserverOfFailures(t *testing.T) {
	lost := retry.Failure{Err: io.EOF, Stage: retry.StageBeforeSending, Reason: mongoreason.PoolCleared, Endpoint: "b:2"}
	for _, endpoints := range []*retry.BreakerOptions{nil, retry.DefaultBreakerOptions()} {
		for _, c := range []struct {
			failing int // attempts, of three
			want    []string
		}{
			{0, nil},
			{1, []string{"attempt failed 0", "decided 0"}},
			{3, []string{"attempt failed 0", "decided 0", "attempt failed 1", "decided 1", "attempt failed 2", "decided 2", "ended 2"}},
		} {
			synctest.Test(t, func(t *testing.T) {
				w := new(failures)
				e, err := retry.New(retry.Options{Strategy: retry.Limited(3, retry.UntilDeadline()), Observer: w, EndpointBreaker: endpoints})
				if err != nil {
					t.Fatal(err)
				}
				err = e.Do(t.Context(), retry.Operation{Idempotency: retry.Idempotent, Endpoint: "a:1"}, func(_ context.Context, n int) retry.Failure {
					<-time.After(time.Second)
					if n < c.failing {
						return lost
					}
					return retry.Failure{}
				})
				if failed := err != nil; failed != (c.failing == 3) {
					t.Errorf("%d attempts fail: %v", c.failing, err)
				}
				var got []string
				for _, event := range w.events {
					got = append(got, fmt.Sprintf("%v %d", event.Kind, event.Attempt))
					if event.Elapsed != 0 || event.Failure.Err == nil {
						t.Errorf("%v %d: after %v, %v", event.Kind, event.Attempt, event.Elapsed, event.Failure.Err)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%d attempts fail: the events are %q, want %q", c.failing, got, c.want)
				}
			})
		}
	}
}

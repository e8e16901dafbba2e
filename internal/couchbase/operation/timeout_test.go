package operation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

func silence(string, int, memd.Packet) (answer, bool) { return answer{}, false }

// then answers by one script first, and by another after n requests.
func then(first nodeScript, n int, second nodeScript) nodeScript {
	return func(host string, i int, r memd.Packet) (answer, bool) {
		if i < n {
			return first(host, i, r)
		}
		return second(host, i, r)
	}
}

func noNode(w *world, _ *cluster.Config, _ *operation.Config) {
	m := newest(1)
	m.VBuckets = [][]int{{-1, 1}, {1, 0}}
	w.SetMap(m)
}

// RFC 0058, timeouts #13 and #14: a timeout is unambiguous if the operation is idempotent, or nothing was sent, or every sent attempt was
// answered by "not applied".
func TestWhetherATimeoutIsAmbiguous(t *testing.T) {
	for _, c := range []struct {
		name      string
		script    nodeScript
		setups    []setup
		ambiguous bool // of an operation that is not idempotent
		cause     error
		reasons   []retry.Reason
	}{
		{"nothing was sent", nil, []setup{noNode}, false, operation.ErrNodeNotAvailable, []retry.Reason{couchbasereason.NodeNotAvailable}},
		{"every attempt was answered: locked", status(memd.StatusLocked, always), nil, false, operation.ErrDocumentLocked, []retry.Reason{couchbasereason.KVLocked}},
		{"every attempt was answered: 07", status(memd.StatusNotMyVBucket, always), nil, false, operation.ErrNotMyVBucket, []retry.Reason{couchbasereason.KVNotMyVBucket}},
		{"every attempt was answered: by the error map", status(0xff01, always), nil, false, nil, []retry.Reason{couchbasereason.KVErrorMapRetryIndicated}},
		{"the only attempt was not answered", silence, nil, true, nil, nil},
		{
			"the last attempt was not answered", then(status(memd.StatusLocked, always), 2, silence), nil, true, operation.ErrDocumentLocked,
			[]retry.Reason{couchbasereason.KVLocked},
		},
	} {
		for _, idempotent := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, idempotent %v", c.name, idempotent), func(t *testing.T) {
				inWorld(t, c.script, func(w *world) {
					q := w.increment(keyOf0)
					if idempotent {
						q = w.get(keyOf0)
					}
					began := time.Now()
					_, err := w.within(context.Background(), 500*ms, q)
					if time.Since(began) != 500*ms || err.Observed != 500*ms {
						t.Errorf("it ended after %v, and says %v", time.Since(began), err.Observed)
					}
					ambiguous := c.ambiguous && !idempotent
					if !errors.Is(err, operation.ErrTimeout) || !err.Timeout() || errors.Is(err, operation.ErrAmbiguousTimeout) != ambiguous ||
						errors.Is(err, operation.ErrUnambiguousTimeout) == ambiguous || err.Ambiguous != ambiguous {
						t.Errorf("%v, ambiguous %v", err, err.Ambiguous)
					}
					if c.cause != nil && !errors.Is(err, c.cause) || errors.Is(err, operation.ErrRequestCanceled) {
						t.Errorf("the cause is missing: %v", err)
					}
					if errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("no context ended it: %v", err)
					}
					equal(t, "reasons", err.Reasons, c.reasons)
					equal(t, "retries", err.Retries, err.History.Total-1)
				}, c.setups...)
			})
		}
	}
}

func TestTheContextOfTheCallerEndsAnOperation(t *testing.T) {
	cause := errors.New("the user went away")
	for _, c := range []struct {
		name   string
		script nodeScript
		ctx    func() (context.Context, context.CancelFunc)
		is     []error
		isNot  []error
	}{
		{"its deadline, in flight", silence, deadline(100 * ms), []error{operation.ErrTimeout, operation.ErrAmbiguousTimeout, context.DeadlineExceeded}, []error{context.Canceled, operation.ErrRequestCanceled}},
		{"its deadline, while waiting for a retry", status(memd.StatusLocked, always), deadline(100 * ms), []error{operation.ErrTimeout, operation.ErrUnambiguousTimeout, context.DeadlineExceeded, operation.ErrDocumentLocked}, []error{operation.ErrAmbiguousTimeout}},
		{"its deadline, which has a cause", silence, func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(context.Background(), 100*ms, cause)
		}, []error{operation.ErrTimeout, context.DeadlineExceeded, cause}, []error{context.Canceled}},
		{"its cancellation, in flight", silence, cancelled(100*ms, nil), []error{operation.ErrRequestCanceled, context.Canceled}, []error{operation.ErrTimeout, context.DeadlineExceeded}},
		{"its cancellation, while waiting for a retry", status(memd.StatusLocked, always), cancelled(100*ms, cause), []error{operation.ErrRequestCanceled, context.Canceled, cause, operation.ErrDocumentLocked}, []error{operation.ErrTimeout}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				ctx, cancel := c.ctx()
				defer cancel()
				began := time.Now()
				_, err := w.within(ctx, 2500*ms, w.increment(keyOf0))
				if d := time.Since(began); d < 100*ms || d > 105*ms {
					t.Errorf("it ended after %v", d)
				}
				for _, want := range c.is {
					if !errors.Is(err, want) {
						t.Errorf("%v does not match %v", err, want)
					}
				}
				for _, not := range c.isNot {
					if errors.Is(err, not) {
						t.Errorf("%v matches %v", err, not)
					}
				}
			}, strategy(every10()))
		})
	}
}

func deadline(d time.Duration) func() (context.Context, context.CancelFunc) {
	return func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), d) }
}

func cancelled(d time.Duration, cause error) func() (context.Context, context.CancelFunc) {
	return func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(d, func() { cancel(cause) })
		return ctx, func() { cancel(nil) }
	}
}

func TestACancelledContextSendsNothing(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := w.within(ctx, time.Second, w.get(keyOf0))
		if !errors.Is(err, operation.ErrRequestCanceled) || err.Ambiguous || len(w.Log()) != 0 {
			t.Errorf("%v, requests %v", err, w.requests())
		}
	})
}

func TestWhatTheErrorShows(t *testing.T) {
	explained := func(_ string, _ int, _ memd.Packet) (answer, bool) {
		return answer{Status: 0xff02, DataType: memd.DataJSON, Value: []byte(`{"error":{"context":"why","ref":"123"}}`)}, true
	}
	inWorld(t, then(status(memd.StatusLocked, always), 1, explained), func(w *world) {
		_, err := w.do(w.increment(keyOf0))
		conn := w.bucket.Snapshot().Endpoints[0].Conn()
		want := operation.Error{
			Name: "increment", Opcode: memd.OpIncrement, Key: keyOf0, Bucket: "bucket", Scope: "_default", Collection: "_default",
			Status: 0xff02, HasStatus: true, Info: memd.ErrorInfo{Context: "why", Ref: "123"},
			SpecIndex: -1, Observed: err.Observed, Opaque: w.Log()[1].Request.Opaque, DispatchedTo: "a:11210", DispatchedFrom: conn.Local(),
			ConnID: conn.ID(), Retries: 1, Reasons: []retry.Reason{couchbasereason.KVLocked},
		}
		want.Entry, _ = conn.ErrorMap().Entry(0xff02)
		got := *err
		got.Answer, got.History = nil, nil
		equal(t, "the error", fmt.Sprintf("%+v", fields(got)), fmt.Sprintf("%+v", fields(want)))
		if got.ConnID == "" || got.DispatchedFrom == "" || got.Opaque == 0 || want.Entry.Name != "NEVER" {
			t.Errorf("%+v", got)
		}
		var history *retry.Error
		if !errors.As(err, &history) || history.Total != 2 {
			t.Errorf("the history is %v", history)
		}
	}, strategy(every10()))
}

func TestTheTextOfAnError(t *testing.T) {
	for _, c := range []struct {
		name   string
		script nodeScript
		change func(q *operation.Operation)
		want   string
	}{
		{"a refusal", status(memd.StatusKeyNotFound, 1), func(*operation.Operation) {}, "increment: document not found (" + memd.StatusKeyNotFound.String() + ")"},
		{
			"a strategy that declines", status(memd.StatusLocked, 1), func(q *operation.Operation) { q.Strategy = declining() },
			"increment: document locked (" + memd.StatusLocked.String() + ") (KV_LOCKED, no more attempts: strategy declined)",
		},
		{
			"a timeout", status(memd.StatusLocked, always), func(q *operation.Operation) { q.Strategy = retry.Limited(3, every10()) },
			"increment: document locked (" + memd.StatusLocked.String() + ") (3 attempts: ",
		},
		{"an ambiguous timeout", silence, func(*operation.Operation) {}, "increment: ambiguous timeout after 2.5s; the operation may have been applied: "},
		{"an unambiguous timeout", status(memd.StatusLocked, always), func(*operation.Operation) {}, "increment: unambiguous timeout after 2.5s: document locked ("},
		{"a strategy that the engine refuses", nil, func(q *operation.Operation) { q.Strategy = retry.Limited(0, retry.RetryOnce()) }, "increment: invalid argument: retry: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				q := w.increment(keyOf0)
				c.change(q)
				_, err := w.do(q)
				if err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("\n got %v\nwant %s", err, c.want)
				}
			})
		})
	}
}

// fields returns the error's fields without those that are not exported.
func fields(e operation.Error) any {
	type plain operation.Error
	e2 := operation.Error{
		Name: e.Name, Opcode: e.Opcode, Key: e.Key, Bucket: e.Bucket, Scope: e.Scope, Collection: e.Collection, CollectionID: e.CollectionID,
		Status: e.Status, HasStatus: e.HasStatus, Info: e.Info, Entry: e.Entry, SpecIndex: e.SpecIndex, Observed: e.Observed, Opaque: e.Opaque,
		DispatchedTo: e.DispatchedTo, DispatchedFrom: e.DispatchedFrom, ConnID: e.ConnID, Retries: e.Retries, Reasons: e.Reasons,
	}
	return plain(e2)
}

// ownContext is a context of an unknown type: package context watches it by a goroutine, until the context made from it is cancelled.
type ownContext struct {
	context.Context
	done chan struct{}
}

func (c ownContext) Done() <-chan struct{} { return c.done }

// A panic of a strategy passes through, and leaves nothing behind.
func TestAStrategyThatPanics(t *testing.T) {
	inWorld(t, status(memd.StatusLocked, always), func(w *world) {
		q := w.get(keyOf0)
		asked := 0
		q.Strategy = retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
			if asked++; asked == 2 {
				panic("mine")
			}
			return retry.After(ms), nil
		})
		defer func() {
			if v := recover(); v != "mine" {
				t.Errorf("recovered %v", v)
			}
		}()
		_, _ = w.within(ownContext{context.Background(), make(chan struct{})}, time.Second, q)
		t.Error("it returned")
	})
}

// The bubble fails if the goroutine is left.
func TestAnOperationThatFailedLeavesNothingInTheContext(t *testing.T) {
	for _, times := range []int{2, always} {
		inWorld(t, status(memd.StatusLocked, times), func(w *world) {
			_, err := w.within(ownContext{context.Background(), make(chan struct{})}, 100*ms, w.get(keyOf0))
			if (err == nil) != (times == 2) {
				t.Error(err)
			}
		}, strategy(every10()))
	}
}

// The reasons are those for which attempts were repeated, or would have been if time had not run out, each once.
func TestTheReasonsOfAnError(t *testing.T) {
	inTurn := func(statuses ...memd.Status) nodeScript {
		return func(_ string, n int, _ memd.Packet) (answer, bool) {
			return answer{Status: statuses[min(n, len(statuses)-1)]}, true
		}
	}
	const locked, temporary, final = memd.StatusLocked, memd.StatusTemporaryFailure, memd.StatusTooBig
	for _, c := range []struct {
		name    string
		script  nodeScript
		timeout time.Duration
		retries int
		reasons []retry.Reason
	}{
		{"time ran out before the first retry", inTurn(locked), 5 * ms, 0, []retry.Reason{couchbasereason.KVLocked}},
		{"a reason comes once", inTurn(locked, temporary, locked, final), time.Second, 3, []retry.Reason{couchbasereason.KVLocked, couchbasereason.KVTemporaryFailure}},
		{"the reason of an attempt whose record is not kept", inTurn(locked, locked, locked, locked, locked, temporary, locked, locked, locked, locked, locked, final), time.Second, 11, []retry.Reason{couchbasereason.KVLocked, couchbasereason.KVTemporaryFailure}},
		{"a refusal has none", inTurn(final), time.Second, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				_, err := w.within(context.Background(), c.timeout, w.increment(keyOf0))
				equal(t, "reasons", err.Reasons, c.reasons)
				equal(t, "retries", err.Retries, c.retries)
			}, strategy(every10()))
		})
	}
}

package operation_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

type contextKey struct{}

func TestAStrategyReachesContextDataAndIdentifier(t *testing.T) {
	inWorld(t, status(memd.StatusLocked, 1), func(w *world) {
		asked := 0
		q := w.increment(keyOf0)
		q.Data = "data"
		q.Strategy = retry.StrategyFunc(func(ctx context.Context, r retry.OperationState, f retry.Failure) (retry.Action, error) {
			asked++
			id, ok := operation.Identifier(ctx)
			if ctx.Value(contextKey{}) != "value" || r.Data != "data" || r.Name != "increment" || !ok || id != w.Log()[0].Request.Opaque {
				t.Errorf("%v, %v, %v, %v %v", ctx.Value(contextKey{}), r.Data, r.Name, id, ok)
			}
			if d, ok := ctx.Deadline(); !ok || time.Until(d) != 2500*ms || ctx.Err() != nil || r.Retries != 0 || f.Reason.String() != "KV_LOCKED" {
				t.Errorf("the deadline is %v, %v; %v", d, ctx.Err(), f.Reason)
			}
			return retry.After(ms), nil
		})
		if _, err := w.within(context.WithValue(context.Background(), contextKey{}, "value"), 2500*ms, q); err != nil || asked != 1 {
			t.Errorf("asked %d times: %v", asked, err)
		}
	})
}

func TestAStrategyThatBlocksDelaysNoOtherOperation(t *testing.T) {
	locked := func(_ string, _ int, r memd.Packet) (answer, bool) {
		if r.Opcode == memd.OpIncrement {
			return answer{Status: memd.StatusLocked}, true
		}
		return answer{}, true
	}
	inWorld(t, locked, func(w *world) {
		var blocking atomic.Bool
		q := w.increment(keyOf0)
		q.Strategy = retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
			blocking.Store(true)
			<-time.After(time.Second)
			return retry.Action{}, nil
		})
		done := make(chan error)
		go func() {
			var r operation.Result
			done <- w.runner.Run(context.Background(), 2500*ms, q, &r)
		}()
		<-time.After(ms)
		began := time.Now()
		if _, err := w.do(w.get(keyOf0)); err != nil || time.Since(began) != 0 || !blocking.Load() {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := <-done; !errors.Is(err, operation.ErrDocumentLocked) {
			t.Error(err)
		}
	})
}

func TestAStrategyThatReturnsAnError(t *testing.T) {
	mine := errors.New("mine")
	inWorld(t, status(memd.StatusLocked, always), func(w *world) {
		q := w.get(keyOf0)
		q.Strategy = retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
			return retry.After(ms), mine
		})
		_, err := w.do(q)
		if !errors.Is(err, mine) || !errors.Is(err, operation.ErrDocumentLocked) || len(w.Log()) != 1 {
			t.Errorf("%v, requests %v", err, w.requests())
		}
	})
}

// A context that a strategy keeps ends with the operation, and is never that of another operation.
func TestAContextThatAStrategyKeeps(t *testing.T) {
	inWorld(t, status(memd.StatusLocked, 1), func(w *world) {
		var kept context.Context // with no delay, the context is not asked for its end
		q := w.get(keyOf0)
		q.Strategy = retry.StrategyFunc(func(ctx context.Context, _ retry.OperationState, _ retry.Failure) (retry.Action, error) {
			kept = ctx
			return retry.After(0), nil
		})
		if _, err := w.within(context.WithValue(context.Background(), contextKey{}, 1), time.Second, q); err != nil {
			t.Fatal(err)
		}
		if _, err := w.within(context.WithValue(context.Background(), contextKey{}, 2), time.Minute, w.get(keyOf0)); err != nil {
			t.Fatal(err)
		}
		if kept.Value(contextKey{}) != 1 {
			t.Errorf("the value is %v", kept.Value(contextKey{}))
		}
	}, func(_ *world, _ *cluster.Config, o *operation.Config) { o.Observer = nil }) // with an observer no run is used again
}

func TestAStrategyThatTheEngineRefuses(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		q := w.get(keyOf0)
		q.Strategy = retry.Limited(0, retry.RetryOnce())
		if _, err := w.do(q); !errors.Is(err, operation.ErrInvalidArgument) || len(w.Log()) != 0 {
			t.Error(err)
		}
	})
	if _, err := operation.NewRunner(operation.Config{Strategy: retry.Limited(0, retry.RetryOnce())}); err == nil {
		t.Error("New accepts it")
	}
}

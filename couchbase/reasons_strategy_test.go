package couchbase_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// asking is a strategy that calls a function, and then declines.
type asking func(couchbase.RetryRequest, couchbase.RetryReason)

func (f asking) RetryAfter(request couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	f(request, reason)
	return &couchbase.NoRetryRetryAction{}
}

// A strategy asserts its request to RetryRequestDetails, and finds the context, the user data, the operation and the error.
func TestAStrategyReachesTheContextAndTheUserData(t *testing.T) {
	type key struct{}
	onBench(t, nil, nil, func(b *bench) {
		t := b.t
		answers(memd.StatusTemporaryFailure)(b, forever)
		saysInstead(couchbasetest.Query, problem(4040, "m", false))(b, forever)
		for _, c := range []struct {
			name, operation string
			run             call
			idempotent      bool
			reason          couchbase.RetryReason
			kind            error
		}{
			{"a read of a document", "exists", exists, true, couchbase.KVTemporaryFailureRetryReason, couchbase.ErrTemporaryFailure},
			{"a write of a document", "upsert", upsert, false, couchbase.KVTemporaryFailureRetryReason, couchbase.ErrTemporaryFailure},
			{"a query", "query", query(false), false, couchbase.QueryPreparedStatementFailureRetryReason, nil},
		} {
			ctx := context.WithValue(retry.WithData(t.Context(), "data"), key{}, "value")
			asked := 0
			strategy := asking(func(request couchbase.RetryRequest, reason couchbase.RetryReason) {
				asked++
				details, ok := request.(couchbase.RetryRequestDetails)
				if !ok || details.Context().Value(key{}) != "value" || details.UserData() != "data" || details.Operation() != c.operation ||
					details.Err() == nil || c.kind != nil && !errors.Is(details.Err(), c.kind) || reason != c.reason || request.Idempotent() != c.idempotent {
					t.Errorf("%s: the strategy was asked about %+v", c.name, request)
				}
			})
			if err := c.run(b, callOptions{timeout: time.Second, strategy: strategy, ctx: ctx}); err == nil || asked != 1 {
				t.Errorf("%s: the strategy was asked %d times: %v", c.name, asked, err)
			}
		}
	})
}

// A strategy that blocks for a second delays its own operation only.
func TestABlockingStrategyDelaysNoOtherOperation(t *testing.T) {
	onBench(t, nil, nil, func(b *bench) {
		t := b.t
		answers(memd.StatusTemporaryFailure)(b, forever)
		saysInstead(couchbasetest.Query, problem(4040, "m", false))(b, 0)
		began := time.Now()
		asked, blocked := make(chan struct{}), make(chan time.Duration)
		strategy := asking(func(couchbase.RetryRequest, couchbase.RetryReason) {
			close(asked)
			<-time.After(time.Second)
		})
		go func() {
			_ = upsert(b, callOptions{timeout: 10 * time.Second, strategy: strategy})
			blocked <- time.Since(began)
		}()
		<-asked
		for range 100 { // on the same connection
			if _, err := b.c.Upsert("other", 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := query(false)(b, callOptions{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("other operations took %v", took)
		}
		if took := <-blocked; took != time.Second {
			t.Errorf("the operation with the blocking strategy took %v", took)
		}
	})
}

// A connection that ends after the node has read the request: a read is sent again on the next connection, a write is not.
func TestAKeyValueConnectionEndsInFlight(t *testing.T) {
	for _, applied := range []bool{false, true} {
		fault := couchbasetest.Fault{LoseRequest: !applied, LoseReply: applied}
		onBench(t, nil, nil, func(b *bench) {
			t := b.t
			b.server.Use(couchbasetest.AnyOpcode, couchbasetest.OnKey(b.key, couchbasetest.Times(2, fault)))
			err := upsert(b, callOptions{timeout: time.Second})
			if !errors.Is(err, couchbase.ErrRequestCanceled) || errors.Is(err, couchbase.ErrTimeout) {
				t.Errorf("a write: %v", err)
			}
			o := seen{err: err}
			o.known(t, false)
			if requests := len(b.times); requests != 1 || (b.server.Applied(memd.OpSet, b.key) == 1) != applied {
				t.Errorf("a write: %d requests", requests)
			}
			<-time.After(time.Second) // the client connects again
			b.forget()
			if err := exists(b, callOptions{timeout: time.Second}); err != nil {
				t.Errorf("a read: %v", err)
			}
			log := b.log.take(t)
			if len(b.times) != 2 || len(log) == 0 || log[0].reason != couchbase.SocketCloseInFlightRetryReason.Description() || log[0].refusal != "" {
				t.Errorf("a read: requests at %v, the log is %v", b.times, log)
			}
		})
	}
}

// The log has a retry when it is decided, and the refusal when the caller cancels during the delay.
func TestACancellationDuringADelayIsLogged(t *testing.T) {
	onBench(t, nil, nil, func(b *bench) {
		t := b.t
		answers(memd.StatusTemporaryFailure)(b, forever)
		b.forget()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(fixedDelay/2, cancel)
		err := upsert(b, callOptions{timeout: time.Second, strategy: fixed{}, ctx: ctx})
		if !errors.Is(err, couchbase.ErrRequestCanceled) || !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		reason := couchbase.KVTemporaryFailureRetryReason.Description()
		want := []decision{{0, reason, fixedDelay, ""}, {0, reason, fixedDelay, retry.StopCancelled.String()}}
		if log := b.log.take(t); !slices.Equal(log, want) {
			t.Errorf("the log is %v, want %v", log, want)
		}
	})
}

package couchbase

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/retry"
)

// requestStrategy gives the engine a strategy with the names of gocb, for one operation.
type requestStrategy struct {
	strategy RetryStrategy
	context  context.Context // the caller's
	id       string          // made when the strategy is asked for the first time
}

var _ retry.Strategy = (*requestStrategy)(nil)

// lastRequestID is the number of the latest operation about which a strategy was asked.
var lastRequestID atomic.Uint64

// engineStrategy returns what the engine asks about one operation. Nil stays nil: the engine's own strategy holds then.
func engineStrategy(ctx context.Context, s RetryStrategy) retry.Strategy { //nolint:contextcheck // nil options have no context
	if s == nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return &requestStrategy{strategy: s, context: ctx}
}

// RetryAfter asks the strategy. The engine calls it from one goroutine, that of the operation.
func (s *requestStrategy) RetryAfter(_ context.Context, state retry.OperationState, failure retry.Failure) (retry.Action, error) {
	if s.id == "" {
		s.id = strconv.FormatUint(lastRequestID.Add(1), 10)
	}
	action := s.strategy.RetryAfter(&retryRequest{call: s, state: &state, failure: &failure}, retryReason{failure.Reason})
	switch a := action.(type) {
	case nil:
		return retry.Decline(retry.StopStrategyDeclined), nil
	case *FailedRetryAction:
		return retry.Action{}, a.Err
	}
	delay := action.Duration()
	if delay <= 0 {
		return retry.Decline(retry.StopStrategyDeclined), nil
	}
	return retry.After(delay), nil
}

// retryRequest is an operation of the engine, as a strategy sees it.
type retryRequest struct {
	call    *requestStrategy
	state   *retry.OperationState
	failure *retry.Failure
}

var _ RetryRequestDetails = (*retryRequest)(nil)

func (r *retryRequest) RetryAttempts() uint32       { return uint32(r.state.Retries) } //nolint:gosec // it is a small count
func (r *retryRequest) Identifier() string          { return r.call.id }
func (r *retryRequest) Idempotent() bool            { return r.state.Idempotency != retry.NotIdempotent }
func (r *retryRequest) RetryReasons() []RetryReason { return reasonsOf(&r.state.Reasons) }
func (r *retryRequest) Context() context.Context    { return r.call.context }
func (r *retryRequest) UserData() any               { return retry.Data(r.call.context) }
func (r *retryRequest) Operation() string           { return r.state.Name }
func (r *retryRequest) Err() error                  { return r.failure.Err }

// reasonsOf returns the reasons of a set with the names of gocb.
func reasonsOf(set *retry.Reasons) []RetryReason {
	var reasons []RetryReason
	for reason := range set.All() {
		reasons = append(reasons, retryReason{reason})
	}
	return reasons
}

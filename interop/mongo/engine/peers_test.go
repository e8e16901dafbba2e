package engine

import (
	"context"

	retrygo "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sony/gobreaker/v2"
)

type failsafeGo struct{ executor failsafe.Executor[any] }

func newFailsafe() failsafeGo {
	return failsafeGo{failsafe.With[any](retrypolicy.NewBuilder[any]().WithMaxAttempts(attempts).Build())}
}

func newFailsafeGuarded() failsafeGo {
	again := retrypolicy.NewBuilder[any]().WithMaxAttempts(attempts).WithBudget(budget.New()).Build()
	breaker := circuitbreaker.NewBuilder[any]().WithFailureRateThreshold(percent/100.0, volume, window).WithDelay(sleep).Build()
	return failsafeGo{failsafe.With[any](again, breaker)}
}

func (f failsafeGo) run(s *service, n int) error {
	call := s.call
	for range n {
		if err := f.executor.Run(call); err != nil {
			return err
		}
	}
	return nil
}

// cenkalti's options are made once, but it applies them anew for each operation.
type cenkalti struct{ options []backoff.RetryOption }

func newCenkalti() cenkalti {
	return cenkalti{[]backoff.RetryOption{
		backoff.WithBackOff(&backoff.ZeroBackOff{}), backoff.WithMaxTries(attempts),
	}}
}

func (c cenkalti) run(s *service, n int) error {
	ctx := context.Background()
	call := func() (struct{}, error) { return struct{}{}, s.call() }
	for range n {
		if _, err := backoff.Retry(ctx, call, c.options...); err != nil {
			return err
		}
	}
	return nil
}

type avast struct{ retrier *retrygo.Retrier }

// throttled gives avast/retry-go its budget.
func throttled() retrygo.Option {
	return retrygo.WithThrottle(retrygo.NewFixedTokenBucketThrottle(retrygo.FixedTokenBucketThrottleConfig{}))
}

func newAvast(more ...retrygo.Option) avast {
	return avast{retrygo.New(append([]retrygo.Option{
		retrygo.Attempts(attempts), retrygo.Delay(0), retrygo.DelayType(retrygo.FixedDelay),
	}, more...)...)}
}

func (a avast) run(s *service, n int) error {
	call := s.call
	for range n {
		if err := a.retrier.Do(call); err != nil {
			return err
		}
	}
	return nil
}

type sony struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
}

func newSony() sony {
	return sony{gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Interval:     window,
		BucketPeriod: slice,
		Timeout:      sleep,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= volume && c.TotalFailures*100 >= percent*c.Requests
		},
	})}
}

func (b sony) run(s *service, n int) error {
	call := func() (struct{}, error) { return struct{}{}, s.call() }
	for range n {
		if _, err := b.breaker.Execute(call); err != nil {
			return err
		}
	}
	return nil
}

package retry

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// opensAt returns the options of a breaker that opens when all of so many attempts failed.
func opensAt(volume int) *BreakerOptions {
	return &BreakerOptions{Volume: volume, Percent: 100, Window: time.Minute, OpenTimeout: 5 * time.Second}
}

// "Per-endpoint breakers as an option of the engine."
func TestEachEndpointHasABreakerOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := made(t, Options{Strategy: UntilDeadline(), EndpointBreaker: opensAt(3)})
		if err := e.Do(t.Context(), Operation{Endpoint: "a"}, failing(errBroken)); stopReasonOfError(t, err) != StopBreakerOpen {
			t.Fatal(err)
		}
		for endpoint, want := range map[string]BreakerState{"a": BreakerOpen, "b": BreakerClosed} {
			if got := e.Breaker(endpoint).State(); got != want {
				t.Errorf("the breaker of %s is %v, want %v", endpoint, got, want)
			}
		}
		err := e.Do(t.Context(), Operation{Endpoint: "a"}, succeed)
		var failed *Error
		if !errors.As(err, &failed) || !errors.Is(err, ErrBreakerOpen) || failed.Last().Endpoint != "a" {
			t.Errorf("an attempt at an endpoint whose breaker is open: %v", err)
		}
		for _, op := range []Operation{{Endpoint: "b"}, {}} {
			if err := e.Do(t.Context(), op, succeed); err != nil {
				t.Errorf("endpoint %q: %v", op.Endpoint, err)
			}
		}
		<-time.After(5 * time.Second)
		if err := e.Do(t.Context(), Operation{Endpoint: "a"}, succeed); err != nil || e.Breaker("a").State() != BreakerClosed {
			t.Errorf("the probe: %v; the breaker is %v", err, e.Breaker("a").State())
		}
	})
}

// An operation has one breaker: its endpoint's, or without an endpoint the engine's.
func TestAnOperationWithAnEndpointDoesNotUseTheEnginesBreaker(t *testing.T) {
	for _, c := range []struct {
		name          string
		op            Operation
		own, endpoint bool // which of the breakers opens
	}{
		{"with an endpoint", Operation{Endpoint: "a"}, false, true},
		{"without one", Operation{}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := made(t, Options{Strategy: RetryOnce(), Breaker: opensAt(1), EndpointBreaker: opensAt(1)})
			_ = e.Do(t.Context(), c.op, failing(errBroken))
			if own, endpoint := e.breaker.State() == BreakerOpen, e.Breaker("a").State() == BreakerOpen; own != c.own || endpoint != c.endpoint {
				t.Errorf("the engine's breaker is open: %v, the endpoint's: %v", own, endpoint)
			}
		})
	}
}

// Successes count for the endpoint's breaker, and for the budget once.
func TestASuccessCountsForTheBreakerOfItsEndpointAndForTheBudget(t *testing.T) {
	b := newBudget(BudgetOptions{Ratio: 0.125, Burst: 10}, time.Now())
	o := opensAt(10)
	o.Percent = 50
	e := made(t, Options{Strategy: Limited(1, RetryOnce()), Budget: b, Breaker: o, EndpointBreaker: o})
	for range 10 {
		b.pay(time.Now())
	}
	for range 8 {
		_ = e.Do(t.Context(), Operation{Endpoint: "a"}, succeed)
	}
	if got := b.Tokens(); got != 1 {
		t.Errorf("%v tokens after 8 successes, want 1", got)
	}
	for n := range 8 {
		_ = e.Do(t.Context(), Operation{Endpoint: "a"}, failing(errBroken))
		if got, want := e.Breaker("a").State() == BreakerOpen, n == 7; got != want {
			t.Errorf("after 8 successes and %d failures it is open: %v", n+1, got)
		}
	}
}

func TestWithoutTheOptionThereIsNoBreakerForAnEndpoint(t *testing.T) {
	e := made(t, Options{Strategy: RetryOnce(), Breaker: opensAt(1)})
	if e.Breaker("a") != nil {
		t.Error("there is one")
	}
	_ = e.Do(t.Context(), Operation{Endpoint: "a"}, failing(errBroken))
	if e.breaker.State() != BreakerOpen {
		t.Error("an operation with an endpoint does not use the only breaker that there is")
	}
}

// "The number of endpoints kept is bounded": those used most recently are kept.
func TestTheBreakersOfTheEndpointsUsedMostRecentlyAreKept(t *testing.T) {
	e := made(t, Options{Strategy: RetryOnce(), EndpointBreaker: opensAt(1)})
	kept := e.Breaker("used again and again")
	once := e.Breaker("used once")
	const others = 4 * keptEndpoints
	for i := range others {
		if first := e.Breaker(fmt.Sprint(i)); e.Breaker(fmt.Sprint(i)) != first {
			t.Fatal("two calls have two breakers for one endpoint")
		}
		if i%(keptEndpoints/2) == 0 && e.Breaker("used again and again") != kept {
			t.Fatalf("after %d other endpoints it has another breaker", i)
		}
		if n := len(*e.endpoints.recent.Load()) + len(e.endpoints.old); n > 2*keptEndpoints {
			t.Fatalf("%d endpoints are kept", n)
		}
	}
	if e.Breaker("used once") == once {
		t.Error("an endpoint that was not used for long is still kept")
	}
	last := others - keptEndpoints + 2
	before := e.Breaker(fmt.Sprint(last))
	for i := range keptEndpoints - 2 {
		e.Breaker(fmt.Sprint("new", i))
	}
	if e.Breaker(fmt.Sprint(last)) != before {
		t.Errorf("an endpoint was forgotten after fewer than %d others", keptEndpoints)
	}
}

func TestConcurrentCallersShareTheBreakerOfAnEndpoint(t *testing.T) {
	e := made(t, Options{Strategy: RetryOnce(), EndpointBreaker: opensAt(1)})
	const callers = 16
	got := make([][]*Breaker, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for n := range 100 {
				got[i] = append(got[i], e.Breaker(fmt.Sprint(n)))
			}
		})
	}
	all.Wait()
	for i := range got {
		for n := range got[i] {
			if got[i][n] != got[0][n] {
				t.Fatalf("caller %d has another breaker for endpoint %d", i, n)
			}
		}
	}
}

func TestAnEndpointsBreakerAllocatesNothingForASuccess(t *testing.T) {
	e := made(t, Options{Strategy: RetryOnce(), EndpointBreaker: DefaultBreakerOptions(), Budget: newBudget(BudgetOptions{Burst: 1}, time.Now())})
	if n := testing.AllocsPerRun(1000, func() {
		if e.Do(t.Context(), Operation{Endpoint: "a:1", Name: "put"}, succeed) != nil {
			t.Error("it failed")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

package retry

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// "Several engines can share one": the retries of one take the tokens of all, and the successes of all add to it.
func TestEnginesShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(BudgetOptions{Ratio: 0.25, PerSecond: 1, Burst: 4}, time.Now())
		var engines []*Engine
		for range 4 {
			engines = append(engines, made(t, Options{Strategy: RetryOnce(), Budget: b, Breaker: DefaultBreakerOptions()}))
		}
		expect := func(step string, want float64) {
			t.Helper()
			if got := b.Tokens(); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %v tokens, want %v", step, got, want)
			}
		}
		expect("at the beginning", 4)
		for _, e := range engines[:3] {
			if err := e.Do(t.Context(), Operation{}, failing(errBroken)); stopReasonOfError(t, err) != StopAttemptsUsed {
				t.Error(err)
			}
		}
		expect("after a retry of each of three engines", 1)
		for i, e := range engines {
			if err := e.Do(t.Context(), Operation{}, succeed); err != nil {
				t.Error(err)
			}
			expect("after a success of each engine until then", 1+float64(i+1)/4)
		}
		<-time.After(1500 * time.Millisecond)
		expect("one and a half seconds later", 3.5)
		<-time.After(time.Hour)
		expect("an hour later", 4)
		for range 4 {
			_ = engines[3].Do(t.Context(), Operation{}, failing(errBroken))
		}
		if err := engines[0].Do(t.Context(), Operation{}, failing(errBroken)); stopReasonOfError(t, err) != StopBudgetEmpty {
			t.Errorf("one engine paid all tokens, and another one still had one: %v", err)
		}
	})
}

// A breaker counts the successes of its own engine only, although the budget counts those of all.
func TestASharedBudgetDoesNotMixTheBreakers(t *testing.T) {
	b := newBudget(BudgetOptions{Burst: 100}, time.Now())
	breaker := &BreakerOptions{Volume: 10, Percent: 50, Window: time.Minute, OpenTimeout: time.Minute}
	healthy, ill := made(t, Options{Strategy: RetryOnce(), Budget: b, Breaker: breaker}), made(t, Options{Strategy: RetryOnce(), Budget: b, Breaker: breaker})
	for range 100 {
		_ = healthy.Do(t.Context(), Operation{}, succeed)
		_ = ill.Do(t.Context(), Operation{}, failing(errBroken))
	}
	if healthy.breaker.State() != BreakerClosed || ill.breaker.State() != BreakerOpen {
		t.Errorf("the breaker of the healthy engine is %v, the other one %v", healthy.breaker.State(), ill.breaker.State())
	}
}

func TestConcurrentEnginesShareABudget(t *testing.T) {
	const engines, each = 8, 500
	b := newBudget(BudgetOptions{Ratio: 1, Burst: 1e6}, time.Now())
	for range engines * each {
		b.pay(time.Now())
	}
	before := b.Tokens()
	var all sync.WaitGroup
	for range engines {
		all.Go(func() {
			e := made(t, Options{Strategy: RetryOnce(), Budget: b})
			for range each {
				_ = e.Do(t.Context(), Operation{}, succeed)
				b.Tokens()
			}
		})
	}
	all.Wait()
	if got := b.Tokens(); got != before+engines*each {
		t.Errorf("%v tokens, want %v", got, before+engines*each)
	}
}

// The budget does not hold engines that nobody uses any more, and their successes stay counted.
func TestABudgetForgetsTheEnginesThatAreGone(t *testing.T) {
	const engines = 200
	b := newBudget(BudgetOptions{Ratio: 1, Burst: 1e6}, time.Now())
	for range 2 * engines {
		b.pay(time.Now())
	}
	for range engines {
		if err := made(t, Options{Strategy: RetryOnce(), Budget: b}).Do(t.Context(), Operation{}, succeed); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.engines)
	}
	for n := 0; n < 1000 && left() > engines/2; n++ { // cleanups run in a goroutine of the runtime
		runtime.GC()
		runtime.Gosched()
	}
	if n := left(); n > engines/2 {
		t.Errorf("it holds %d engines of %d", n, engines)
	}
	if got, want := b.Tokens(), 1e6-float64(engines); got != want {
		t.Errorf("%v tokens, want %v", got, want)
	}
}

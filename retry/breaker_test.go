package retry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// defaultOpenTimeout is the OpenTimeout of DefaultBreakerOptions.
const defaultOpenTimeout = 5 * time.Second

// change is a change of a breaker's state.
type change struct{ from, to retry.BreakerState }

var legal = []change{
	{retry.BreakerClosed, retry.BreakerOpen},
	{retry.BreakerOpen, retry.BreakerHalfOpen},
	{retry.BreakerHalfOpen, retry.BreakerClosed},
	{retry.BreakerHalfOpen, retry.BreakerOpen},
}

// checkChanges checks that each change is legal and begins with the state in which the one before ended.
func checkChanges(t rapid.TB, changes []change) {
	t.Helper()
	state := retry.BreakerClosed
	for i, c := range changes {
		if c.from != state || !slices.Contains(legal, c) {
			t.Fatalf("change %d is from %v to %v, after %v", i, c.from, c.to, changes[:i])
		}
		state = c.to
	}
}

func newBreaker(t rapid.TB, o retry.BreakerOptions) *retry.Breaker {
	t.Helper()
	b, err := retry.NewBreaker(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pass lets time pass on the fake clock.
func pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

func TestWhenABreakerOpens(t *testing.T) {
	for _, c := range []struct {
		name    string
		volume  int
		percent float64
		results string // G, B, U for HealthGood, HealthBad, HealthUnknown; the last result opens the breaker
		opens   bool
	}{
		{"fewer attempts than Volume", 4, 50, "BBB", false},
		{"as many attempts as Volume", 4, 50, "BBBB", true},
		{"successes count towards Volume", 4, 50, "GGBB", true},
		{"HealthUnknown does not count towards Volume", 4, 50, "UBUBUBU", false},
		{"less than Percent", 4, 50, "GGGBB", false},
		{"exactly Percent", 4, 50, "GGGBBB", true},
		{"a Volume of 1", 1, 100, "B", true},
		{"a Percent of 100 and one success", 1, 100, "GBBBBBBBBBBBBBBBBBBB", false},
		{"a third of six is less than 33.4 %", 6, 33.4, "GGGGBB", false},
		{"a third of six is more than 33.3 %", 6, 33.3, "GGGGBB", true},
		{"the defaults: 19 failures", 20, 50, "BBBBBBBBBBBBBBBBBBB", false},
		{"the defaults: half of twenty", 20, 50, "GGGGGGGGGGBBBBBBBBBB", true},
		{"the defaults: less than half of 21", 20, 50, "GGGGGGGGGGGBBBBBBBBBB", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := *retry.DefaultBreakerOptions()
			o.Volume, o.Percent = c.volume, c.percent
			b := newBreaker(t, o)
			for i, r := range c.results {
				p, ok := b.Allow()
				if !ok {
					t.Fatalf("the breaker opened before result %d", i)
				}
				b.Done(p, map[rune]retry.Health{'G': retry.HealthGood, 'B': retry.HealthBad, 'U': retry.HealthUnknown}[r])
			}
			if open := b.State() == retry.BreakerOpen; open != c.opens {
				t.Errorf("open is %v after %s, want %v", open, c.results, c.opens)
			}
		})
	}
}

// Successes between two failures are spread over parts of the window. The parts must add up to the number of successes.
func TestWhenABreakerOpensAfterSpreadSuccesses(t *testing.T) {
	for successes := 1; successes <= 12; successes++ {
		for _, gap := range []time.Duration{time.Second, 1700 * time.Millisecond, 3 * time.Second, 7 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				o := *retry.DefaultBreakerOptions()
				o.Volume, o.Percent, o.Window = 2*successes, 50, 100*time.Second
				b := newBreaker(t, o)
				for range successes {
					report(t, b, retry.HealthGood)
				}
				for n := 1; n <= successes; n++ {
					<-time.After(gap)
					if b.State() != retry.BreakerClosed {
						t.Fatalf("%d successes, %v apart: open after %d failures", successes, gap, n-1)
					}
					report(t, b, retry.HealthBad)
				}
				if b.State() != retry.BreakerOpen {
					t.Errorf("%d successes, %v apart: not open after as many failures", successes, gap)
				}
			})
		}
	}
}

func report(t *testing.T, b *retry.Breaker, h retry.Health) {
	t.Helper()
	p, ok := b.Allow()
	if !ok {
		t.Fatal("no attempt is permitted")
	}
	b.Done(p, h)
}

func TestAnAttemptLeavesTheWindowToATenth(t *testing.T) {
	for _, c := range []struct {
		first, second time.Duration // when attempts fail; two failures open the breaker
		opens         bool
	}{
		{0, 0, true},
		{0, 9 * time.Second, true},
		{999 * time.Millisecond, 9999 * time.Millisecond, true},
		{0, 10 * time.Second, false},
		{999 * time.Millisecond, 10999 * time.Millisecond, false},
		{time.Hour, time.Hour + 9*time.Second, true},
		{time.Hour, time.Hour + 10*time.Second, false},
	} {
		t.Run(fmt.Sprintf("%v and %v", c.first, c.second), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, retry.BreakerOptions{Volume: 2, Percent: 100, Window: 10 * time.Second, OpenTimeout: time.Second})
				pass(c.first)
				fail(b)
				pass(c.second - c.first)
				fail(b)
				if open := b.State() == retry.BreakerOpen; open != c.opens {
					t.Errorf("open is %v, want %v", open, c.opens)
				}
			})
		})
	}
}

// fail makes an attempt that fails, if the breaker permits it.
func fail(b *retry.Breaker) {
	if p, ok := b.Allow(); ok {
		b.Done(p, retry.HealthBad)
	}
}

// opened returns a breaker that has just opened and permits nothing for defaultOpenTimeout.
func opened(t *testing.T) *retry.Breaker {
	t.Helper()
	o := *retry.DefaultBreakerOptions()
	o.Volume = 1
	b := newBreaker(t, o)
	fail(b)
	if b.State() != retry.BreakerOpen {
		t.Fatalf("the breaker is %v after a failure", b.State())
	}
	return b
}

// allowMany asks b for 100 permits at once and returns those that it gives.
func allowMany(b *retry.Breaker) (permits []retry.Permit) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if p, ok := b.Allow(); ok {
				mu.Lock()
				defer mu.Unlock()
				permits = append(permits, p)
			}
		})
	}
	all.Wait()
	return permits
}

func TestOneProbeIsPermittedPerOpenTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := opened(t)
		probe := func(after time.Duration, want int) (p retry.Permit) {
			t.Helper()
			pass(after)
			permits := allowMany(b)
			if len(permits) != want {
				t.Fatalf("%d attempts were permitted, want %d", len(permits), want)
			}
			if want == 1 {
				p = permits[0]
			}
			return p
		}
		probe(0, 0)
		probe(defaultOpenTimeout-1, 0)
		late := probe(1, 1)
		probe(0, 0)
		probe(defaultOpenTimeout-1, 0)
		second := probe(1, 1)
		for _, h := range []retry.Health{retry.HealthGood, retry.HealthBad, retry.HealthUnknown} {
			b.Done(late, h)
			b.Done(retry.Permit{}, h)
		}
		probe(0, 0)
		b.Done(second, retry.HealthUnknown)
		third := probe(0, 1)
		b.Done(third, retry.HealthBad)
		probe(defaultOpenTimeout-1, 0)
		b.Done(probe(1, 1), retry.HealthGood)
		probe(0, 100)
	})
}

func TestAnAttemptFromBeforeTheBreakerOpenedCannotOpenItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := *retry.DefaultBreakerOptions()
		o.Volume = 2
		b := newBreaker(t, o)
		old := allowMany(b)
		fail(b)
		fail(b)
		pass(defaultOpenTimeout)
		probe, _ := b.Allow()
		b.Done(probe, retry.HealthGood)
		for _, p := range old {
			b.Done(p, retry.HealthBad)
		}
		if b.State() != retry.BreakerClosed {
			t.Errorf("the breaker is %v", b.State())
		}
	})
}

// The breaker opens at 20 % failures, and a third of the attempts fail, so it opens again soon after it closed.
func TestConcurrentCallersCauseOnlyLegalChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []change // without a lock: OnChange is called one at a time
		b := newBreaker(t, retry.BreakerOptions{
			Volume: 5, Percent: 20, Window: time.Second, OpenTimeout: 50 * time.Millisecond,
			OnChange: func(from, to retry.BreakerState) { changes = append(changes, change{from, to}) },
		})
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for range 200 {
					p, ok := b.Allow()
					pass(time.Duration(rand.IntN(30)) * time.Millisecond)
					if ok {
						b.Done(p, []retry.Health{retry.HealthGood, retry.HealthBad, retry.HealthUnknown}[rand.IntN(3)])
					}
				}
			})
		}
		all.Wait()
		checkChanges(t, changes)
		if len(changes) < 10 {
			t.Errorf("only %d changes", len(changes))
		}
	})
}

// The clock is the real one and nothing waits, so that callers meet within the breaker.
func TestConcurrentCallersOnTheRealClockCauseOnlyLegalChanges(t *testing.T) {
	var changes []change
	b := newBreaker(t, retry.BreakerOptions{
		Volume: 1, Percent: 1, Window: time.Hour, OpenTimeout: 1,
		OnChange: func(from, to retry.BreakerState) { changes = append(changes, change{from, to}) },
	})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 20_000 {
				if p, ok := b.Allow(); ok {
					b.Done(p, []retry.Health{retry.HealthGood, retry.HealthBad}[i%2])
				}
			}
		})
	}
	all.Wait()
	checkChanges(t, changes)
}

func TestJudgeFailure(t *testing.T) {
	for _, c := range []struct {
		name    string
		failure retry.Failure
		want    retry.Health
	}{
		{"no server was found: unknown", retry.Failure{Stop: retry.StopNoServer}, retry.HealthUnknown},
		{"the command was not built: unknown", retry.Failure{Stop: retry.StopNotBuilt}, retry.HealthUnknown},
		{"another breaker stopped the attempt: unknown", retry.Failure{Reason: retry.ReasonCircuitBreakerOpen}, retry.HealthUnknown},
		{"an answer for an unknown reason: good", retry.Failure{Stage: retry.StageAnswered}, retry.HealthGood},
		{"an answer for a known reason: bad", retry.Failure{Stage: retry.StageAnswered, Reason: mongoreason.NodeRecovering}, retry.HealthBad},
		{"an overloaded server: bad", overloaded, retry.HealthBad},
		{"no answer, for an unknown reason: bad", retry.Failure{Stage: retry.StageInFlight}, retry.HealthBad},
		{"a connection that broke: bad", inFlight, retry.HealthBad},
		{"a connection that could not be made: bad", retry.Failure{Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed}, retry.HealthBad},
		{
			"a connection that broke under an attempt that refuses a retry: bad",
			with(inFlight, func(f *retry.Failure) { f.Stop = retry.StopInTransaction }), retry.HealthBad,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retry.JudgeFailure(c.failure); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A breaker judges by its options, but a success is good and what the caller cancelled shows nothing.
func TestABreakerJudgesAnAttempt(t *testing.T) {
	o := retry.DefaultBreakerOptions()
	o.Judge = func(f retry.Failure) retry.Health {
		if f.Stage == retry.StageInFlight {
			return retry.HealthBad
		}
		return retry.HealthGood
	}
	breaker, err := retry.NewBreaker(*o)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancelLate()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		failure retry.Failure
		want    retry.Health
	}{
		{"a success: good", context.Background(), retry.Failure{}, retry.HealthGood},
		{"a success of a cancelled caller: good", cancelled, retry.Failure{}, retry.HealthGood},
		{"by the options: bad", context.Background(), inFlight, retry.HealthBad},
		{"by the options: good", context.Background(), overloaded, retry.HealthGood},
		{"the caller cancelled it: unknown", cancelled, inFlight, retry.HealthUnknown},
		{"its deadline passed: by the options", late, inFlight, retry.HealthBad},
	} {
		if got := breaker.Judge(c.ctx, c.failure); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

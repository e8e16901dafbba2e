package retry_test

import (
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

// defaultSleep is the Sleep of DefaultBreakerOptions.
const defaultSleep = 5 * time.Second

// change is a change of a breaker's state.
type change struct{ from, to retry.BreakerState }

var legal = []change{
	{retry.BreakerClosed, retry.BreakerOpen},
	{retry.BreakerOpen, retry.BreakerHalfOpen},
	{retry.BreakerHalfOpen, retry.BreakerClosed},
	{retry.BreakerHalfOpen, retry.BreakerOpen},
}

// checkChanges checks that changes are legal and that each begins where the one before ended.
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

func TestABreakerOpensAtItsBoundariesExactly(t *testing.T) {
	for _, c := range []struct {
		name    string
		volume  int
		percent float64
		results string // S, F, or N for neutral; the last is the one that opens it
		opens   bool
	}{
		{"not before so many attempts", 4, 50, "FFF", false},
		{"with as many", 4, 50, "FFFF", true},
		{"successes are attempts too", 4, 50, "SSFF", true},
		{"what is neutral is not", 4, 50, "NFNFNFN", false},
		{"not with fewer of a hundred", 4, 50, "SSSFF", false},
		{"with as many of a hundred", 4, 50, "SSSFFF", true},
		{"one is enough if it is so wanted", 1, 100, "F", true},
		{"all must fail if it is so wanted", 1, 100, "SFFFFFFFFFFFFFFFFFFF", false},
		{"a third of six is not 33.4 of a hundred", 6, 33.4, "SSSSFF", false},
		{"a third of six is 33.3 of a hundred", 6, 33.3, "SSSSFF", true},
		{"the defaults: 19 are not enough", 20, 50, "FFFFFFFFFFFFFFFFFFF", false},
		{"the defaults: half of twenty", 20, 50, "SSSSSSSSSSFFFFFFFFFF", true},
		{"the defaults: less than half of more", 20, 50, "SSSSSSSSSSSFFFFFFFFFF", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := *retry.DefaultBreakerOptions()
			o.Volume, o.Percent = c.volume, c.percent
			b := newBreaker(t, o)
			for i, r := range c.results {
				p, ok := b.Allow()
				if !ok {
					t.Fatalf("it opened before result %d", i)
				}
				b.Done(p, map[rune]retry.Health{'S': retry.HealthGood, 'F': retry.HealthBad, 'N': retry.HealthUnknown}[r])
			}
			if open := b.State() == retry.BreakerOpen; open != c.opens {
				t.Errorf("open is %v after %s, want %v", open, c.results, c.opens)
			}
		})
	}
}

// Successes between two failures are spread over parts of the window; the parts add up to what they were all the same.
func TestABreakersBoundariesHoldWhereSuccessesAreSpread(t *testing.T) {
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

func report(t *testing.T, b *retry.Breaker, o retry.Health) {
	t.Helper()
	p, ok := b.Allow()
	if !ok {
		t.Fatal("nothing is let through")
	}
	b.Done(p, o)
}

func TestABreakersWindowForgetsToATenth(t *testing.T) {
	for _, c := range []struct {
		first, second time.Duration // when attempts fail; two open it
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
				b := newBreaker(t, retry.BreakerOptions{Volume: 2, Percent: 100, Window: 10 * time.Second, Sleep: time.Second})
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

// fail lets an attempt fail, if it is let through.
func fail(b *retry.Breaker) {
	if p, ok := b.Allow(); ok {
		b.Done(p, retry.HealthBad)
	}
}

// opened returns a breaker that has just opened and lets nothing through for five seconds.
func opened(t *testing.T) *retry.Breaker {
	t.Helper()
	o := *retry.DefaultBreakerOptions()
	o.Volume = 1
	b := newBreaker(t, o)
	fail(b)
	if b.State() != retry.BreakerOpen {
		t.Fatalf("it is %v after a failure", b.State())
	}
	return b
}

// crowd asks b for many permits at once and returns those that it grants.
func crowd(b *retry.Breaker) (granted []retry.Permit) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if p, ok := b.Allow(); ok {
				mu.Lock()
				defer mu.Unlock()
				granted = append(granted, p)
			}
		})
	}
	all.Wait()
	return granted
}

func TestOneCanaryGoesPerSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := opened(t)
		canary := func(after time.Duration, want int) (p retry.Permit) {
			t.Helper()
			pass(after)
			granted := crowd(b)
			if len(granted) != want {
				t.Fatalf("%d were let through, want %d", len(granted), want)
			}
			if want == 1 {
				p = granted[0]
			}
			return p
		}
		canary(0, 0)
		canary(defaultSleep-1, 0)
		silent := canary(1, 1)
		canary(0, 0)
		canary(defaultSleep-1, 0)
		second := canary(1, 1)
		for _, o := range []retry.Health{retry.HealthGood, retry.HealthBad, retry.HealthUnknown} {
			b.Done(silent, o)
			b.Done(retry.Permit{}, o)
		}
		canary(0, 0)
		b.Done(second, retry.HealthUnknown)
		third := canary(0, 1)
		b.Done(third, retry.HealthBad)
		canary(defaultSleep-1, 0)
		b.Done(canary(1, 1), retry.HealthGood)
		canary(0, 100)
	})
}

func TestWhatBeganBeforeTheBreakerOpenedCannotOpenItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := *retry.DefaultBreakerOptions()
		o.Volume = 2
		b := newBreaker(t, o)
		old := crowd(b)
		fail(b)
		fail(b)
		pass(defaultSleep)
		canary, _ := b.Allow()
		b.Done(canary, retry.HealthGood)
		for _, p := range old {
			b.Done(p, retry.HealthBad)
		}
		if b.State() != retry.BreakerClosed {
			t.Errorf("it is %v", b.State())
		}
	})
}

// A failure in five is too much and a third fails, so that it opens again soon after it closed.
func TestCallersTogetherSeeOnlyLegalChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []change // the breaker tells of one at a time
		b := newBreaker(t, retry.BreakerOptions{
			Volume: 5, Percent: 20, Window: time.Second, Sleep: 50 * time.Millisecond,
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

// On the real clock and without waits, so that callers meet within the breaker.
func TestCallersThatMeetSeeOnlyLegalChanges(t *testing.T) {
	var changes []change
	b := newBreaker(t, retry.BreakerOptions{
		Volume: 1, Percent: 1, Window: time.Hour, Sleep: 1,
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
		{"no server was found: nothing was learnt", retry.Failure{Refuse: retry.WhyNoServer}, retry.HealthUnknown},
		{"the command was not built: nothing was learnt", retry.Failure{Refuse: retry.WhyNotBuilt}, retry.HealthUnknown},
		{"another breaker stopped it: nothing was learnt", retry.Failure{Reason: retry.ReasonCircuitBreakerOpen}, retry.HealthUnknown},
		{"an answer for no known reason: it works", retry.Failure{Stage: retry.StageResponded}, retry.HealthGood},
		{"an answer for a known reason failed", retry.Failure{Stage: retry.StageResponded, Reason: mongoreason.NodeRecovering}, retry.HealthBad},
		{"an overloaded server failed", overloaded, retry.HealthBad},
		{"no answer, for no known reason, failed", retry.Failure{Stage: retry.StageInFlight}, retry.HealthBad},
		{"a connection that broke failed", inFlight, retry.HealthBad},
		{"a connection that was not made failed", retry.Failure{Stage: retry.StageDispatch, Reason: retry.ReasonConnectionFailed}, retry.HealthBad},
		{
			"what must not be tried again may have failed all the same",
			with(inFlight, func(f *retry.Failure) { f.Refuse = retry.WhyInTransaction }), retry.HealthBad,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retry.JudgeFailure(c.failure); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

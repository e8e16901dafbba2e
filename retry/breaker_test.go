package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-db/holdfast/retry"
)

// change is a change of a breaker's state.
type change struct{ from, to retry.BreakerState }

var legal = []change{
	{retry.Closed, retry.Open},
	{retry.Open, retry.HalfOpen},
	{retry.HalfOpen, retry.Closed},
	{retry.HalfOpen, retry.Open},
}

// checkChanges checks that changes are legal and that each begins where the one before ended.
func checkChanges(t rapid.TB, changes []change) {
	t.Helper()
	state := retry.Closed
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

// model is a breaker whose window forgets nothing.
type model struct {
	retry.BreakerOptions
	state             retry.BreakerState
	age               int // grows with each change of state, and with each canary
	succeeded, failed int
	until             time.Time
	changes           []change
}

func (m *model) become(to retry.BreakerState) {
	if to != m.state {
		m.changes = append(m.changes, change{m.state, to})
	}
	m.state = to
	m.age++
}

func (m *model) allow(now time.Time) bool {
	if m.state == retry.Closed {
		return true
	}
	if now.Before(m.until) {
		return false
	}
	m.become(retry.HalfOpen)
	m.until = now.Add(m.Sleep)
	return true
}

func (m *model) tooManyFailed() bool {
	all := m.succeeded + m.failed
	return all >= m.Volume && float64(m.failed)*100 >= m.Percent*float64(all)
}

func (m *model) done(age int, o retry.Outcome, now time.Time) {
	switch {
	case age != m.age || m.state == retry.Open:
	case m.state == retry.HalfOpen && o == retry.Succeeded:
		m.become(retry.Closed)
		m.succeeded, m.failed = 0, 0
	case m.state == retry.HalfOpen:
		m.become(retry.Open)
		if m.until = now; o == retry.Failed {
			m.until = now.Add(m.Sleep)
		}
	case o == retry.Succeeded:
		m.succeeded++
	case o == retry.Failed:
		m.failed++
		if m.tooManyFailed() {
			m.until = now.Add(m.Sleep)
			m.become(retry.Open)
		}
	}
}

// held is a permit that was granted when the model had that age.
type held struct {
	permit retry.Permit
	age    int
}

func modelOptions(t *rapid.T) retry.BreakerOptions {
	return retry.BreakerOptions{
		Volume:  rapid.IntRange(1, 12).Draw(t, "volume"),
		Percent: rapid.OneOf(rapid.SampledFrom([]float64{25, 50, 100}), rapid.Float64Range(0.1, 100)).Draw(t, "percent"),
		Window:  1000 * time.Hour, // so much that all of a run is in its first slot
		Sleep:   time.Duration(rapid.IntRange(1, 10).Draw(t, "sleep")) * time.Second,
	}
}

// both is a breaker and its model.
type both struct {
	*model
	real    *retry.Breaker
	changes []change
	out     []held
}

func (b *both) ask(t *rapid.T) {
	p, ok := b.real.Allow()
	if want := b.allow(time.Now()); ok != want {
		t.Fatalf("let through is %v, want %v, in state %v", ok, want, b.state)
	}
	if ok {
		b.out = append(b.out, held{p, b.age})
	}
}

func (b *both) report(t *rapid.T) {
	if len(b.out) == 0 {
		t.Skip("nothing is under way")
	}
	i := rapid.IntRange(0, len(b.out)-1).Draw(t, "which")
	o := rapid.SampledFrom([]retry.Outcome{retry.Succeeded, retry.Failed, retry.Failed, retry.Neutral}).Draw(t, "outcome")
	h := b.out[i]
	b.out = slices.Delete(b.out, i, i+1)
	b.real.Done(h.permit, o)
	b.done(h.age, o, time.Now())
}

func (b *both) check(t *rapid.T) {
	if got := b.real.State(); got != b.state {
		t.Fatalf("it is %v, want %v", got, b.state)
	}
	if !slices.Equal(b.changes, b.model.changes) {
		t.Fatalf("it changed %v, want %v", b.changes, b.model.changes)
	}
	checkChanges(t, b.changes)
}

func TestABreakerDoesWhatItsModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := modelOptions(t)
		rapid.SyncTest(t, func(t *rapid.T) {
			b := &both{model: &model{BreakerOptions: o}}
			o.OnChange = func(from, to retry.BreakerState) { b.changes = append(b.changes, change{from, to}) }
			b.real = newBreaker(t, o)
			t.Repeat(map[string]func(*rapid.T){
				"ask": b.ask, "ask again": b.ask, "report": b.report, "report again": b.report,
				"pass": func(t *rapid.T) {
					pass(rapid.OneOf(
						rapid.Just(o.Sleep), rapid.Just(o.Sleep-1), rapid.Custom(func(t *rapid.T) time.Duration {
							return time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second
						}),
					).Draw(t, "passed"))
				},
				"": b.check,
			})
		})
	})
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
			o := *retry.DefaultBreaker()
			o.Volume, o.Percent = c.volume, c.percent
			b := newBreaker(t, o)
			for i, r := range c.results {
				p, ok := b.Allow()
				if !ok {
					t.Fatalf("it opened before result %d", i)
				}
				b.Done(p, map[rune]retry.Outcome{'S': retry.Succeeded, 'F': retry.Failed, 'N': retry.Neutral}[r])
			}
			if open := b.State() == retry.Open; open != c.opens {
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
				o := *retry.DefaultBreaker()
				o.Volume, o.Percent, o.Window = 2*successes, 50, 100*time.Second
				b := newBreaker(t, o)
				for range successes {
					report(t, b, retry.Succeeded)
				}
				for n := 1; n <= successes; n++ {
					<-time.After(gap)
					if b.State() != retry.Closed {
						t.Fatalf("%d successes, %v apart: open after %d failures", successes, gap, n-1)
					}
					report(t, b, retry.Failed)
				}
				if b.State() != retry.Open {
					t.Errorf("%d successes, %v apart: not open after as many failures", successes, gap)
				}
			})
		}
	}
}

func report(t *testing.T, b *retry.Breaker, o retry.Outcome) {
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
				if open := b.State() == retry.Open; open != c.opens {
					t.Errorf("open is %v, want %v", open, c.opens)
				}
			})
		})
	}
}

// fail lets an attempt fail, if it is let through.
func fail(b *retry.Breaker) {
	if p, ok := b.Allow(); ok {
		b.Done(p, retry.Failed)
	}
}

// opened returns a breaker that has just opened and lets nothing through for five seconds.
func opened(t *testing.T) *retry.Breaker {
	t.Helper()
	o := *retry.DefaultBreaker()
	o.Volume = 1
	b := newBreaker(t, o)
	fail(b)
	if b.State() != retry.Open {
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
		canary(b.Sleep-1, 0)
		silent := canary(1, 1)
		canary(0, 0)
		canary(b.Sleep-1, 0)
		second := canary(1, 1)
		for _, o := range []retry.Outcome{retry.Succeeded, retry.Failed, retry.Neutral} {
			b.Done(silent, o)
			b.Done(retry.Permit{}, o)
		}
		canary(0, 0)
		b.Done(second, retry.Neutral)
		third := canary(0, 1)
		b.Done(third, retry.Failed)
		canary(b.Sleep-1, 0)
		b.Done(canary(1, 1), retry.Succeeded)
		canary(0, 100)
	})
}

func TestWhatBeganBeforeTheBreakerOpenedCannotOpenItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := *retry.DefaultBreaker()
		o.Volume = 2
		b := newBreaker(t, o)
		old := crowd(b)
		fail(b)
		fail(b)
		pass(b.Sleep)
		canary, _ := b.Allow()
		b.Done(canary, retry.Succeeded)
		for _, p := range old {
			b.Done(p, retry.Failed)
		}
		if b.State() != retry.Closed {
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
						b.Done(p, []retry.Outcome{retry.Succeeded, retry.Failed, retry.Neutral}[rand.IntN(3)])
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
					b.Done(p, []retry.Outcome{retry.Succeeded, retry.Failed}[i%2])
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
		want    retry.Outcome
	}{
		{"no server was found: nothing was learnt", retry.Failure{Refuse: retry.NoServer}, retry.Neutral},
		{"the command was not built: nothing was learnt", retry.Failure{Refuse: retry.NotBuilt}, retry.Neutral},
		{"another breaker stopped it: nothing was learnt", retry.Failure{Reason: retry.CircuitBreakerOpen}, retry.Neutral},
		{"an answer for no known reason: it works", retry.Failure{Stage: retry.Responded}, retry.Succeeded},
		{"an answer for a known reason failed", retry.Failure{Stage: retry.Responded, Reason: retry.NodeRecovering}, retry.Failed},
		{"an overloaded server failed", overloaded, retry.Failed},
		{"no answer, for no known reason, failed", retry.Failure{Stage: retry.InFlight}, retry.Failed},
		{"a connection that broke failed", inFlight, retry.Failed},
		{"a connection that was not made failed", retry.Failure{Stage: retry.Dispatch, Reason: retry.ConnectionFailed}, retry.Failed},
		{
			"what must not be tried again may have failed all the same",
			with(inFlight, func(f *retry.Failure) { f.Refuse = retry.InTransaction }), retry.Failed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retry.JudgeFailure(c.failure); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// guarded returns an engine whose breaker opens at the first failure, for five seconds.
func guarded(t *testing.T, s retry.Strategy, change func(*retry.BreakerOptions)) *retry.Engine {
	t.Helper()
	o := retry.DefaultBreaker()
	o.Volume = 1
	if change != nil {
		change(o)
	}
	return engine(t, retry.Options{Strategy: s, Breaker: o})
}

// trip opens an engine's breaker.
func trip(t *testing.T, e *retry.Engine) {
	t.Helper()
	err := e.Do(t.Context(), retry.Operation{Strategy: retry.Limited{Attempts: 1}}, func(context.Context, int) retry.Failure {
		return inFlight
	})
	if whyOf(err) != retry.AttemptsUsed {
		t.Fatal(err)
	}
}

func TestAnOpenBreakerIsAReasonThatStrategiesDecideAbout(t *testing.T) {
	const sleep = 5 * time.Second
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		attempts int // that were let through
		took     time.Duration
		why      retry.Why // Retried: it succeeds
	}{
		{"a delay up to the canary's time is waited for", afterEach(sleep), 1, sleep, retry.Retried},
		{"a longer one too", afterEach(sleep + time.Hour), 1, sleep + time.Hour, retry.Retried},
		{"one that ends before it is not", afterEach(sleep - 1), 0, 0, retry.BreakerOpen},
		{"no delay is none that reaches it", retry.Once(), 0, 0, retry.BreakerOpen},
		{"a strategy that declines is the reason", retry.Limited{Attempts: 1}, 0, 0, retry.AttemptsUsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := guarded(t, retry.Once(), nil)
				trip(t, e)
				var asked []retry.Reason
				strategy := retry.StrategyFunc(func(ctx context.Context, r retry.Request, f retry.Failure) (retry.Action, error) {
					asked = append(asked, f.Reason)
					return c.strategy.RetryAfter(ctx, r, f)
				})
				attempts, start := 0, time.Now()
				err := e.Do(t.Context(), retry.Operation{Strategy: strategy}, func(context.Context, int) retry.Failure {
					attempts++
					return retry.Failure{}
				})
				if took := time.Since(start); attempts != c.attempts || took != c.took {
					t.Errorf("%d attempts in %v, want %d in %v", attempts, took, c.attempts, c.took)
				}
				if !slices.Equal(asked, []retry.Reason{retry.CircuitBreakerOpen}) {
					t.Errorf("the strategy was asked about %v", asked)
				}
				if c.why == retry.Retried {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var got *retry.Error
				if !errors.As(err, &got) || got.Why() != c.why || !errors.Is(err, retry.ErrBreakerOpen) || !got.OutcomeKnown() {
					t.Errorf("error: %v", err)
				}
			})
		})
	}
}

func TestAFailureThatOpensTheBreakerIsTheOperationsError(t *testing.T) {
	e := guarded(t, retry.Once(), nil)
	attempt, made := script(inFlight)
	err := e.Do(t.Context(), retry.Operation{}, attempt)
	if *made != 1 || whyOf(err) != retry.BreakerOpen || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, retry.ErrBreakerOpen) {
		t.Errorf("%d attempts: %v", *made, err)
	}
}

// let reports whether an engine lets an attempt through.
func let(t *testing.T, e *retry.Engine) (through bool) {
	t.Helper()
	_ = e.Do(t.Context(), retry.Operation{Strategy: retry.Limited{Attempts: 1}}, func(context.Context, int) retry.Failure {
		through = true
		return retry.Failure{}
	})
	return through
}

func cancelledWhileUnderWay(t *testing.T, e *retry.Engine) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
		cancel()
		return inFlight
	})
	if why := whyOf(err); why != retry.Cancelled {
		t.Errorf("because %v, want cancelled", why)
	}
}

func TestACallersCancellationTellsTheBreakerNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.Once(), nil)
		for range 100 {
			cancelledWhileUnderWay(t, e)
		}
		if !let(t, e) {
			t.Fatal("cancellations opened it")
		}
		trip(t, e)
		pass(5 * time.Second)
		cancelledWhileUnderWay(t, e)
		if !let(t, e) {
			t.Error("after a cancelled canary the next one must wait")
		}
	})
}

func TestADeadlineThatPassesTellsTheBreakerOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.Once(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := e.Do(ctx, retry.Operation{}, func(ctx context.Context, _ int) retry.Failure {
			<-ctx.Done()
			return inFlight
		})
		if whyOf(err) != retry.DeadlineWouldPass || let(t, e) {
			t.Errorf("it is closed after: %v", err)
		}
	})
}

func TestAPanicInTheCanaryDoesNotLockTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := guarded(t, retry.Once(), nil)
		trip(t, e)
		pass(5 * time.Second)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure { panic("canary") })
		}()
		pass(5*time.Second - 1)
		if let(t, e) {
			t.Error("a second canary went before Sleep was over")
		}
		pass(1)
		if !let(t, e) {
			t.Error("no canary goes after Sleep")
		}
		if !let(t, e) {
			t.Error("its success does not close the breaker")
		}
	})
}

func TestACanaryCanBeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []change
		e := guarded(t, afterEach(5*time.Second), func(o *retry.BreakerOptions) {
			o.OnChange = func(from, to retry.BreakerState) { changes = append(changes, change{from, to}) }
		})
		attempt, made := script(inFlight, inFlight)
		if err := e.Do(t.Context(), retry.Operation{}, attempt); err != nil || *made != 3 {
			t.Errorf("%d attempts: %v", *made, err)
		}
		if want := []change{legal[0], legal[1], legal[3], legal[1], legal[2]}; !slices.Equal(changes, want) {
			t.Errorf("changes %v, want %v", changes, want)
		}
	})
}

func TestABreakerCanBeGivenAnotherJudge(t *testing.T) {
	for _, c := range []struct {
		judged retry.Outcome
		opens  bool
	}{{retry.Failed, true}, {retry.Succeeded, false}, {retry.Neutral, false}} {
		t.Run(fmt.Sprint(c.judged), func(t *testing.T) {
			var asked []retry.Failure
			e := guarded(t, retry.Once(), func(o *retry.BreakerOptions) {
				o.Judge = func(f retry.Failure) retry.Outcome {
					asked = append(asked, f)
					return c.judged
				}
			})
			trip(t, e)
			if !slices.Equal(asked, []retry.Failure{inFlight}) {
				t.Errorf("it was asked about %v", asked)
			}
			if open := !let(t, e); open != c.opens {
				t.Errorf("open is %v, want %v", open, c.opens)
			}
		})
	}
}

// endpoints is a client of two servers with a breaker for each: it goes to the first whose breaker lets it.
type endpoints struct {
	names    []string
	breakers []*retry.Breaker
	down     map[string]bool
	sent     map[string]int
}

func (c *endpoints) attempt(context.Context, int) retry.Failure {
	for i, b := range c.breakers {
		permit, ok := b.Allow()
		if !ok {
			continue
		}
		c.sent[c.names[i]]++
		if c.down[c.names[i]] {
			f := retry.Failure{Err: io.EOF, Stage: retry.Dispatch, Reason: retry.ConnectionFailed, Endpoint: c.names[i]}
			b.Done(permit, retry.JudgeFailure(f))
			return f
		}
		b.Done(permit, retry.Succeeded)
		return retry.Failure{}
	}
	return retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.Dispatch, Reason: retry.CircuitBreakerOpen}
}

func TestABreakerForEachEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &endpoints{names: []string{"a", "b"}, down: map[string]bool{"a": true}, sent: map[string]int{}}
		for range c.names {
			o := *retry.DefaultBreaker()
			o.Volume = 3
			c.breakers = append(c.breakers, newBreaker(t, o))
		}
		e := engine(t, retry.Options{Strategy: retry.Limited{Attempts: 4}})
		do := func() error { return e.Do(t.Context(), retry.Operation{}, c.attempt) }
		for range 10 {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		if c.sent["a"] != 3 || c.sent["b"] != 10 {
			t.Errorf("sent %v, want 3 to a, whose breaker then opened, and 10 to b", c.sent)
		}
		c.down["b"] = true
		err := do()
		if why := whyOf(err); why != retry.AttemptsUsed || !errors.Is(err, io.EOF) {
			t.Errorf("while b's breaker is not open: %v", err)
		}
		for range 3 {
			err = do()
		}
		if !errors.Is(err, retry.ErrBreakerOpen) {
			t.Errorf("while both are open: %v", err)
		}
		clear(c.down)
		pass(5 * time.Second)
		if err := do(); err != nil || c.breakers[0].State() != retry.Closed {
			t.Errorf("after Sleep: %v, and a's breaker is %v", err, c.breakers[0].State())
		}
	})
}

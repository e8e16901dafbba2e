package retry_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-db/holdfast/retry"
)

// model is a breaker whose window never ends.
type model struct {
	retry.BreakerOptions
	state             retry.BreakerState
	age               int // the number of changes of state and of probes
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
	if m.state == retry.BreakerClosed {
		return true
	}
	if now.Before(m.until) {
		return false
	}
	m.become(retry.BreakerHalfOpen)
	m.until = now.Add(m.OpenTimeout)
	return true
}

func (m *model) tooManyFailed() bool {
	all := m.succeeded + m.failed
	return all >= m.Volume && float64(m.failed)*100 >= m.Percent*float64(all)
}

func (m *model) done(age int, h retry.Health, now time.Time) {
	switch {
	case age != m.age || m.state == retry.BreakerOpen:
	case m.state == retry.BreakerHalfOpen && h == retry.HealthGood:
		m.become(retry.BreakerClosed)
		m.succeeded, m.failed = 0, 0
	case m.state == retry.BreakerHalfOpen:
		m.become(retry.BreakerOpen)
		if m.until = now; h == retry.HealthBad {
			m.until = now.Add(m.OpenTimeout)
		}
	case h == retry.HealthGood:
		m.succeeded++
	case h == retry.HealthBad:
		m.failed++
		if m.tooManyFailed() {
			m.until = now.Add(m.OpenTimeout)
			m.become(retry.BreakerOpen)
		}
	}
}

// attempt is an attempt under way: its permit, and the model's age when it began.
type attempt struct {
	permit retry.Permit
	age    int
}

func modelOptions(t *rapid.T) retry.BreakerOptions {
	return retry.BreakerOptions{
		Volume:      rapid.IntRange(1, 12).Draw(t, "volume"),
		Percent:     rapid.OneOf(rapid.SampledFrom([]float64{25, 50, 100}), rapid.Float64Range(0.1, 100)).Draw(t, "percent"),
		Window:      1000 * time.Hour, // so long that the whole run is in the first slot
		OpenTimeout: time.Duration(rapid.IntRange(1, 10).Draw(t, "sleep")) * time.Second,
	}
}

// both is a breaker and its model.
type both struct {
	*model
	real     *retry.Breaker
	changes  []change
	underWay []attempt
}

func (b *both) ask(t *rapid.T) {
	p, ok := b.real.Allow()
	if want := b.allow(time.Now()); ok != want {
		t.Fatalf("permitted is %v, want %v, in state %v", ok, want, b.state)
	}
	if ok {
		b.underWay = append(b.underWay, attempt{p, b.age})
	}
}

func (b *both) report(t *rapid.T) {
	if len(b.underWay) == 0 {
		t.Skip("no attempt is under way")
	}
	i := rapid.IntRange(0, len(b.underWay)-1).Draw(t, "which")
	h := rapid.SampledFrom([]retry.Health{retry.HealthGood, retry.HealthBad, retry.HealthBad, retry.HealthUnknown}).Draw(t, "health")
	a := b.underWay[i]
	b.underWay = slices.Delete(b.underWay, i, i+1)
	b.real.Done(a.permit, h)
	b.done(a.age, h, time.Now())
}

func (b *both) check(t *rapid.T) {
	if got := b.real.State(); got != b.state {
		t.Fatalf("the breaker is %v, want %v", got, b.state)
	}
	if !slices.Equal(b.changes, b.model.changes) {
		t.Fatalf("the changes are %v, want %v", b.changes, b.model.changes)
	}
	checkChanges(t, b.changes)
}

func TestABreakerBehavesLikeItsModel(t *testing.T) {
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
						rapid.Just(o.OpenTimeout), rapid.Just(o.OpenTimeout-1), rapid.Custom(func(t *rapid.T) time.Duration {
							return time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second
						}),
					).Draw(t, "passed"))
				},
				"": b.check,
			})
		})
	})
}

package retry

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

// events holds all events of a window, from its beginning. The window must count those since the horizon, which is the beginning
// of the oldest of its ten slots:
//   - failures, and successes that are added like failures, exactly;
//   - other successes as if they were spread evenly over the period between two failures: none of a period that ended before
//     the horizon, all of a period after it, and the later share of the period that contains the horizon.
type events struct {
	from     time.Time
	slot     time.Duration
	failures []time.Time
	answers  []time.Time // successes that are added like failures
	periods  []period
}

// period is the time between two failures.
type period struct {
	from, to  time.Time
	successes []time.Time // their true times, before to
}

func (e *events) horizon(now time.Time) time.Time {
	return e.from.Add((now.Sub(e.from)/e.slot - slots + 1) * e.slot)
}

func since(horizon time.Time, all []time.Time) (n float64) {
	for _, t := range all {
		if !t.Before(horizon) {
			n++
		}
	}
	return n
}

// counts returns the numbers that the window must count now, and how far the successes may be from their true number.
func (e *events) counts(now time.Time) (succeeded, failed, inexact float64) {
	horizon := e.horizon(now)
	succeeded = since(horizon, e.answers)
	for _, s := range e.periods {
		n := float64(len(s.successes))
		switch {
		case !s.from.Before(horizon):
			succeeded += n
		case s.to.After(horizon):
			succeeded += n * s.to.Sub(horizon).Seconds() / s.to.Sub(s.from).Seconds()
			inexact += n
		}
	}
	return succeeded, since(horizon, e.failures), inexact
}

func (e *events) really(now time.Time) (succeeded float64) {
	horizon := e.horizon(now)
	succeeded = since(horizon, e.answers)
	for _, s := range e.periods {
		succeeded += since(horizon, s.successes)
	}
	return succeeded
}

// addition is one call of window.add.
type addition struct {
	passed    time.Duration // since the one before
	lag       time.Duration // since the caller read the clock
	health    Health
	successes []float64 // since the one before: each at a fraction of the time
}

// additions draws calls of window.add, with short and long times between them.
func additions(slot time.Duration) *rapid.Generator[[]addition] {
	duration := rapid.Custom(func(t *rapid.T) time.Duration {
		n := time.Duration(rapid.IntRange(1, 25).Draw(t, "n"))
		switch rapid.SampledFrom([]string{"none", "short", "slots", "nearly", "long"}).Draw(t, "kind") {
		case "short":
			return time.Duration(rapid.Int64Range(0, int64(slot)).Draw(t, "ns"))
		case "slots":
			return n * slot
		case "nearly":
			return n*slot - 1
		case "long":
			return n * 1000 * slot
		}
		return 0
	})
	return runs(rapid.Custom(func(t *rapid.T) addition {
		return addition{
			passed: duration.Draw(t, "passed"), lag: rapid.OneOf(rapid.Just(time.Duration(0)), duration).Draw(t, "lag"),
			health:    rapid.SampledFrom([]Health{HealthBad, HealthBad, HealthBad, HealthGood, HealthUnknown}).Draw(t, "health"),
			successes: rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 6).Draw(t, "successes"),
		}
	}), 30)
}

func TestAWindowCountsAsDocumented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.OneOf(
			rapid.Int64Range(slots, 1000), rapid.Int64Range(slots, int64(time.Hour)),
		).Draw(t, "length"))
		start := time.Unix(1e9, 0)
		all := events{from: start, slot: length / slots}
		var w window
		var successes uint64
		w.start(length, successes, start)
		clock, at := start, start
		for _, s := range additions(all.slot).Draw(t, "additions") {
			clock = clock.Add(s.passed)
			now := clock.Add(-s.lag)
			successes += uint64(len(s.successes))
			w.add(s.health, successes, now)
			all.add(s, at, later(at, now))
			at = later(at, now)
			compare(t, &w, &all, at)
		}
	})
}

func (e *events) add(s addition, from, to time.Time) {
	between := period{from: from, to: to}
	last := max(to.Sub(from)-1, 0)
	for _, part := range s.successes {
		between.successes = append(between.successes, from.Add(min(time.Duration(part*float64(last)), last)))
	}
	e.periods = append(e.periods, between)
	switch s.health {
	case HealthBad:
		e.failures = append(e.failures, to)
	case HealthGood:
		e.answers = append(e.answers, to)
	case HealthUnknown:
	}
}

func compare(t *rapid.T, w *window, all *events, now time.Time) {
	t.Helper()
	succeeded, failed := w.counts()
	wantSucceeded, wantFailed, inexact := all.counts(now)
	if failed != wantFailed || math.Abs(succeeded-wantSucceeded) > 1e-6 {
		t.Fatalf("counted %v succeeded and %v failed, want %v and %v", succeeded, failed, wantSucceeded, wantFailed)
	}
	if really := all.really(now); math.Abs(succeeded-really) > inexact+1e-6 {
		t.Fatalf("counted %v succeeded, the true number is %v, the difference may be at most %v", succeeded, really, inexact)
	}
	surely, perhaps := since(now.Add(-(slots-1)*all.slot), all.failures), since(now.Add(-slots*all.slot+1), all.failures)
	if failed < surely || failed > perhaps {
		t.Fatalf("counted %v failed; %v are younger than nine tenths of the window, %v younger than the window", failed, surely, perhaps)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A slot's number is larger than an int of 32 bits can hold: with slots of a millisecond, after 25 days.
func TestAWindowCountsAfterYears(t *testing.T) {
	for _, length := range []time.Duration{slots, 10 * time.Millisecond, time.Minute} {
		var w window
		if n := unsafe.Sizeof(w.current); n != 8 {
			t.Errorf("the number of a slot has %d bytes, want 8 on every machine", n)
		}
		start := time.Unix(1e9, 0)
		w.start(length, 0, start)
		successes := uint64(0)
		for _, age := range []time.Duration{3 * time.Second, 24 * 24 * time.Hour, 25 * 24 * time.Hour, 26 * 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
			now := start.Add(age)
			w.add(HealthBad, successes, now)
			successes += 3
			w.add(HealthBad, successes, now.Add(length/2))
			if succeeded, failed := w.counts(); math.Abs(succeeded-3) > 1e-6 || failed != 2 {
				t.Errorf("a window of %v counts, after %v, %v succeeded and %v failed; want 3 and 2", length, age, succeeded, failed)
			}
		}
	}
}

func TestWindowExamples(t *testing.T) {
	const s = time.Second // one slot
	type add struct {
		at        time.Duration
		successes uint64 // until then
	}
	for _, c := range []struct {
		name              string
		adds              []add
		succeeded, failed float64
	}{
		{"all attempts in the window count", []add{{0, 1}, {5 * s, 3}, {9*s + 999*time.Millisecond, 3}}, 3, 3},
		{"a slot is cleared when it is reused", []add{{0, 0}, {s, 0}, {10 * s, 0}}, 0, 2},
		{"the ring is reused many times", []add{{0, 0}, {95 * s, 0}, {100 * s, 0}, {104 * s, 0}, {105 * s, 0}}, 0, 3},
		{"nothing is left after a long time without failures", []add{{0, 7}, {1e6 * s, 7}}, 0, 1},
		{"successes of a long time without failures are spread over it", []add{{0, 0}, {100 * s, 100}}, 9, 1},
		{"successes between two failures at the same time all count", []add{{3 * s, 0}, {3 * s, 5}, {3 * s, 8}}, 8, 3},
		{"an earlier reading of the clock counts as the latest one", []add{{12 * s, 0}, {1 * s, 4}, {12 * s, 4}}, 4, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Unix(0, 0)
			var w window
			w.start(slots*s, 0, start)
			for _, a := range c.adds {
				w.add(HealthBad, a.successes, start.Add(a.at))
			}
			if succeeded, failed := w.counts(); math.Abs(succeeded-c.succeeded) > 1e-9 || failed != c.failed {
				t.Errorf("counted %v succeeded and %v failed, want %v and %v", succeeded, failed, c.succeeded, c.failed)
			}
		})
	}
}

package retry

import (
	"context"
	"math"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// delayOf returns the delay that b gives as any strategy does.
func delayOf(t rapid.TB, b Strategy, retries int) time.Duration {
	t.Helper()
	a, err := b.RetryAfter(context.Background(), Request{Retries: retries}, Failure{})
	if err != nil || !a.retry {
		t.Fatalf("after %d retries: %+v, %v", retries, a, err)
	}
	return a.delay
}

// ceiling is min(limit, base x 2^n) in numbers that cannot overflow.
func ceiling(base time.Duration, n int, limit time.Duration) time.Duration {
	grown := new(big.Int).Lsh(big.NewInt(int64(base)), uint(min(n, 64)))
	if most := big.NewInt(int64(limit)); grown.Cmp(most) > 0 {
		return limit
	}
	return time.Duration(grown.Int64())
}

func anyRetries() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(0, 70), rapid.IntRange(0, math.MaxInt), rapid.Just(math.MaxInt))
}

func anyDuration(least, most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.OneOf(
			rapid.Int64Range(int64(least), int64(most)), rapid.Just(int64(least)), rapid.Just(int64(most)),
		).Draw(t, "ns"))
	})
}

func TestBestEffortStaysBetweenItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := anyDuration(1, math.MaxInt64).Draw(t, "min")
		most := anyDuration(least, math.MaxInt64).Draw(t, "max")
		retries := anyRetries().Draw(t, "retries")
		b := BestEffort(BackoffOptions{Min: least, Max: most})
		made(t, Options{Strategy: b})
		high := ceiling(least, retries, most)
		for range 20 {
			if d := delayOf(t, b, retries); d < least || d > high {
				t.Fatalf("after %d retries: %v, want %v to %v", retries, d, least, high)
			}
			if d := delayOf(t, b, 0); d != least {
				t.Fatalf("the first delay is %v, want %v", d, least)
			}
		}
	})
}

func TestOverloadBackoffStaysBelowItsCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := anyDuration(math.MinInt64, math.MaxInt64).Draw(t, "base")
		n := max(anyRetries().Draw(t, "n"), 1)
		high := ceiling(100*time.Millisecond, n, 10*time.Second)
		if base > 0 {
			high = ceiling(base, n, 10*time.Second)
		}
		for range 20 {
			if d := OverloadBackoff(n, base); d < 0 || d > high {
				t.Fatalf("retry %d from %v: %v, want 0 to %v", n, base, d, high)
			}
		}
	})
}

// checkUniform draws from [low, high] and tests the hypothesis that all of it is equally likely with Pearson's chi-square
// in as many bins as are given. It raises a false alarm once in more than a hundred million times.
func checkUniform(t *testing.T, low, high time.Duration, bins int, draw func() time.Duration) {
	t.Helper()
	const perBin = 400
	counts := make([]int, bins)
	for range perBin * bins {
		d := draw()
		if d < low || d > high {
			t.Fatalf("%v is not between %v and %v", d, low, high)
		}
		counts[int(float64(d-low)/float64(high-low+1)*float64(bins))]++
	}
	chiSquare := 0.0
	for _, n := range counts {
		off := float64(n - perBin)
		chiSquare += off * off / perBin
	}
	if most := chiSquareQuantile(float64(bins - 1)); chiSquare > most {
		t.Errorf("not uniform between %v and %v: chi-square is %.1f, at most %.1f is likely; bins: %v", low, high, chiSquare, most, counts)
	}
}

// chiSquareQuantile is what chi-square exceeds with a probability of less than 1e-8, by Wilson and Hilferty's formula for
// 5.7 standard deviations.
func chiSquareQuantile(freedom float64) float64 {
	const deviations = 5.7
	part := 2 / (9 * freedom)
	return freedom * math.Pow(1-part+deviations*math.Sqrt(part), 3)
}

func TestBestEffortIsUniform(t *testing.T) {
	const ms = time.Millisecond
	narrow := BestEffort(BackoffOptions{Min: 1, Max: 10})
	for _, c := range []struct {
		name      string
		b         Strategy
		retries   int
		low, high time.Duration
		bins      int
	}{
		{"while it grows, once", BestEffort(BackoffOptions{}), 1, ms, 2 * ms, 50},
		{"while it grows, four times", BestEffort(BackoffOptions{}), 4, ms, 16 * ms, 50},
		{"just below the cap", BestEffort(BackoffOptions{}), 8, ms, 256 * ms, 50},
		{"at the cap", BestEffort(BackoffOptions{}), 9, ms, 500 * ms, 50},
		{"long at the cap", BestEffort(BackoffOptions{}), 1000, ms, 500 * ms, 50},
		{"with other bounds", BestEffort(BackoffOptions{Min: 30 * ms, Max: 100 * ms}), 2, 30 * ms, 100 * ms, 50},
		{"each value of few, both ends among them", narrow, 3, 1, 8, 8},
		{"each value of few at the cap", narrow, 4, 1, 10, 10},
		{"up to the longest time there is", BestEffort(BackoffOptions{Min: 1, Max: math.MaxInt64 - 1}), 99, 1, math.MaxInt64 - 1, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkUniform(t, c.low, c.high, c.bins, func() time.Duration { return delayOf(t, c.b, c.retries) })
		})
	}
}

func TestOverloadBackoffIsUniform(t *testing.T) {
	for _, n := range []int{1, 3, 7, 50} {
		high := ceiling(100*time.Millisecond, n, 10*time.Second)
		checkUniform(t, 0, high, 50, func() time.Duration { return OverloadBackoff(n, 0) })
	}
}

func TestACalculatorReplacesBestEffortsRule(t *testing.T) {
	b := BestEffort(BackoffOptions{Calculator: func(retries int) time.Duration { return time.Duration(retries-1) * time.Hour }})
	for _, c := range []struct {
		name    string
		engines Strategy
		own     Strategy
	}{
		{"as the engine's strategy", b, nil},
		{"as the operation's", Once(), b},
		{"within a limit", Limited(9, b), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := made(t, Options{Strategy: c.engines})
				var at []time.Duration
				start := time.Now()
				err := e.Do(t.Context(), Operation{Strategy: c.own}, func(_ context.Context, n int) Failure {
					at = append(at, time.Since(start))
					return Failure{Err: errBroken, Stage: StageDispatch, Reason: ReasonConnectionFailed, Refuse: map[int]Why{4: WhyDisabled}[n]}
				})
				// What it calculates is -1, 0, 1 and 2 hours; a negative delay is none.
				want := []time.Duration{0, 0, 0, time.Hour, 3 * time.Hour}
				if len(at) != len(want) || whyOf(t, err) != WhyDisabled {
					t.Fatalf("attempts at %v: %v", at, err)
				}
				for i := range want {
					if at[i] != want[i] {
						t.Errorf("attempts at %v, want %v", at, want)
					}
				}
			})
		})
	}
}

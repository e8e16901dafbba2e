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

// delayOf returns the delay of a strategy that retries.
func delayOf(t rapid.TB, s Strategy, retries int) time.Duration {
	t.Helper()
	a, err := s.RetryAfter(context.Background(), OperationState{Retries: retries}, Failure{})
	if err != nil || !a.retry {
		t.Fatalf("after %d retries: %+v, %v", retries, a, err)
	}
	return a.delay
}

// ceiling returns min(limit, base x 2^n), computed with numbers that cannot overflow.
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
		s := BestEffort(BackoffOptions{Min: least, Max: most})
		made(t, Options{Strategy: s})
		high := ceiling(least, retries, most)
		for range 20 {
			if d := delayOf(t, s, retries); d < least || d > high {
				t.Fatalf("after %d retries: %v, want %v to %v", retries, d, least, high)
			}
			if d := delayOf(t, s, 0); d != least {
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

// checkUniform draws values and checks with Pearson's chi-square test, in so many bins, that they are uniform in [low, high]. It
// fails by chance less than once in a hundred million times.
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
		t.Errorf("not uniform between %v and %v: chi-square is %.1f, likely is at most %.1f; bins: %v", low, high, chiSquare, most, counts)
	}
}

// chiSquareQuantile returns the value that chi-square exceeds with a probability of less than 1e-8, by the formula of Wilson
// and Hilferty for 5.7 standard deviations.
func chiSquareQuantile(freedom float64) float64 {
	const deviations = 5.7
	part := 2 / (9 * freedom)
	return freedom * math.Pow(1-part+deviations*math.Sqrt(part), 3)
}

func TestBestEffortIsUniform(t *testing.T) {
	const ms = time.Millisecond
	rfc, narrow := BestEffort(BackoffOptions{}), BestEffort(BackoffOptions{Min: 1, Max: 10})
	for _, c := range []struct {
		name      string
		strategy  Strategy
		retries   int
		low, high time.Duration
		bins      int
	}{
		{"after one retry", rfc, 1, ms, 2 * ms, 50},
		{"after four retries", rfc, 4, ms, 16 * ms, 50},
		{"just below the cap", rfc, 8, ms, 256 * ms, 50},
		{"at the cap", rfc, 9, ms, 500 * ms, 50},
		{"a thousand retries later", rfc, 1000, ms, 500 * ms, 50},
		{"with other bounds", BestEffort(BackoffOptions{Min: 30 * ms, Max: 100 * ms}), 2, 30 * ms, 100 * ms, 50},
		{"eight possible values, with both bounds", narrow, 3, 1, 8, 8},
		{"ten possible values at the cap", narrow, 4, 1, 10, 10},
		{"up to the longest duration", BestEffort(BackoffOptions{Min: 1, Max: math.MaxInt64 - 1}), 99, 1, math.MaxInt64 - 1, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkUniform(t, c.low, c.high, c.bins, func() time.Duration { return delayOf(t, c.strategy, c.retries) })
		})
	}
}

func TestOverloadBackoffIsUniform(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		n          int
		base, high time.Duration
	}{
		{"the first retry", 1, 0, 200 * ms},
		{"the second retry", 2, 0, 400 * ms},
		{"the third retry", 3, 0, 800 * ms},
		{"the last retry below the cap", 6, 0, 6400 * ms},
		{"at the cap", 7, 0, 10_000 * ms},
		{"a thousand retries later", 1000, 0, 10_000 * ms},
		{"the server's base", 1, 30 * ms, 60 * ms},
		{"a negative base means the default", 1, -time.Second, 200 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkUniform(t, 0, c.high, 50, func() time.Duration { return OverloadBackoff(c.n, c.base) })
		})
	}
}

func TestACalculatorReplacesTheBackoff(t *testing.T) {
	s := BestEffort(BackoffOptions{Calculator: func(retries int) time.Duration { return time.Duration(retries-1) * time.Hour }})
	for _, c := range []struct {
		name    string
		engines Strategy
		own     Strategy
	}{
		{"as the engine's strategy", s, nil},
		{"as the operation's strategy", RetryOnce(), s},
		{"within a limit", Limited(9, s), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := made(t, Options{Strategy: c.engines})
				var at []time.Duration
				start := time.Now()
				err := e.Do(t.Context(), Operation{Strategy: c.own}, func(_ context.Context, n int) Failure {
					at = append(at, time.Since(start))
					return Failure{Err: errBroken, Stage: StageBeforeSending, Reason: ReasonConnectionFailed, Stop: map[int]StopReason{4: StopDisabled}[n]}
				})
				// The delays are -1, 0, 1 and 2 hours; a negative delay means none.
				want := []time.Duration{0, 0, 0, time.Hour, 3 * time.Hour}
				if len(at) != len(want) || stopReasonOfError(t, err) != StopDisabled {
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

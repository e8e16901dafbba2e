package query_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var errStopped = errors.New("stopped")

// stopping returns a Work whose k-th check fails.
func stopping(k int) *query.Work {
	return query.NewWork(func() error {
		if k--; k > 0 {
			return nil
		}
		return errStopped
	})
}

func TestAWorkThatMustEndEndsMatchesUpdatesAndSorts(t *testing.T) {
	long := doc(t, `{"a": [`+strings.Repeat("1, ", 20_000)+`2]}`)
	t.Run("a filter", func(t *testing.T) {
		f, err := query.ParseFilter(doc(t, `{"a": 3}`))
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := f.MatchWith(long, &query.Matching{Work: stopping(3)}); ok || !errors.Is(err, errStopped) {
			t.Errorf("got %t, %v", ok, err)
		}
	})
	for _, update := range []string{
		`{"$push": {"a": {"$each": [3], "$sort": 1}}}`, `{"$pull": {"a": 3}}`,
		`{"$addToSet": {"a": {"$each": [` + strings.Repeat("5, ", 9000) + `3]}}}`,
	} {
		t.Run(update[:12], func(t *testing.T) {
			u, err := query.ParseUpdate(value(t, update), query.Value{}, query.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			env := query.Env{Now: time.Unix(1, 0), Match: &query.Matching{Work: stopping(3)}}
			if _, err := u.Apply(long, env); !errors.Is(err, errStopped) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a sort", func(t *testing.T) {
		s, err := query.ParseSort(doc(t, `{"a": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		docs := slices.Repeat([][]byte{doc(t, `{"a": 1}`)}, 20_000)
		if err := s.Order(stopping(3), docs); !errors.Is(err, errStopped) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAWorkStaysEnded(t *testing.T) {
	w := stopping(1)
	for w.Do(100) == nil {
	}
	for range 3 {
		if err := w.Do(1); !errors.Is(err, errStopped) {
			t.Errorf("after the end there is %v", err)
		}
	}
}

func TestSortStableIsThatOfSlices(t *testing.T) {
	type pair struct{ key, place int }
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{random.IntN(1 + n/3), i}
		}
		want := slices.Clone(list)
		compare := func(a, b pair) int { return a.key - b.key }
		slices.SortStableFunc(want, compare)
		if err := query.SortStable(nil, list, compare); err != nil || !slices.Equal(list, want) {
			t.Fatalf("%d elements: %v, %v", n, list, err)
		}
	}
}

func TestIndexOfAWorkIsThatOfStrings(t *testing.T) {
	w := query.NewWork(func() error { return nil })
	long := strings.Repeat("a", 300<<10)
	for _, at := range []int{0, 1, 64<<10 - 1, 64 << 10, 200_000, len(long) - 3} {
		s := long[:at] + "bcd" + long[at+3:]
		for _, part := range []string{"bcd", "d", "ab", "q", "", "bcda"} {
			if got, err := w.Index([]byte(s), []byte(part)); err != nil || got != strings.Index(s, part) {
				t.Errorf("%q at %d: %d, %v; want %d", part, at, got, err, strings.Index(s, part))
			}
		}
	}
}

package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// contents returns the waiters, read forwards, and reports whether backwards there are the same.
func (q *waitQueue) contents() (all []*waiter, consistent bool) {
	for w := q.first; w != nil; w = w.links[q.links].behind {
		all = append(all, w)
	}
	var back []*waiter
	for w := q.last; w != nil; w = w.links[q.links].before {
		back = append(back, w)
	}
	slices.Reverse(back)
	return all, slices.Equal(all, back) && len(all) == q.length
}

// Whatever joins and leaves, the queue has what a list would have.
func TestTheWaitQueueIsAList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	q := waitQueue{links: ofShare}
	var want []*waiter
	outside := make([]*waiter, 8)
	for i := range outside {
		outside[i] = &waiter{}
	}
	for range 2_000 {
		w := outside[random.IntN(len(outside))]
		switch random.IntN(3) {
		case 0:
			if !slices.Contains(want, w) {
				q.push(w)
				want = append(want, w)
			}
		case 1:
			i := slices.Index(want, w)
			if q.remove(w) != (i >= 0) {
				t.Fatal("remove does not say whether the waiter was there")
			}
			if i >= 0 {
				want = slices.Delete(want, i, i+1)
			}
		case 2:
			if len(want) > 0 && random.IntN(2) == 0 {
				if q.first != want[0] || !q.remove(want[0]) {
					t.Fatal("another waiter is the first")
				}
				want = want[1:]
			}
		}
		if got, ok := q.contents(); !ok || !slices.Equal(got, want) {
			t.Fatalf("the queue has %d waiters, consistent: %v; want %d", len(got), ok, len(want))
		}
	}
	if q.remove(nil) {
		t.Error("nobody was in the queue")
	}
}

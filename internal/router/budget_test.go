package router

import (
	"testing"
	"time"
)

// What is free costs neither a timer nor a place among those that wait.
func TestFreeMemoryCostsNothing(t *testing.T) {
	m := newMemory(LeastMemory, 1, time.Second)
	allocs := testing.AllocsPerRun(100, func() {
		r, err := m.replies.reserve(t.Context(), LeastMemory/4)
		if err != nil {
			t.Error(err)
		}
		r.release()
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestHowManyRepliesWait(t *testing.T) {
	for pool, want := range map[uint64]int64{0: defaultMaxPool / 4, 1: 1, 3: 1, 8: 2} {
		if places := replyPlaces(pool); !places.TryAcquire(want) || places.TryAcquire(1) {
			t.Errorf("with a pool of %d not %d replies wait", pool, want)
		}
	}
}

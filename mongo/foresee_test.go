package mongo

import (
	"math"
	"testing"
)

// A batch of any size is copied at most four times while its documents are encoded.
func TestALargeBatchIsCopiedAFewTimes(t *testing.T) {
	const size = 50
	for _, n := range []int{1, 10, 1_000, 300_000} {
		s, copied := &scratch{b: make([]byte, 0, 1024)}, 0
		for i := range n {
			if before := cap(s.b); true {
				if s.foresee(i, n); cap(s.b) != before {
					copied += len(s.b)
				}
			}
			before := cap(s.b)
			if s.b = append(s.b, make([]byte, size)...); cap(s.b) != before {
				copied += len(s.b) - size
			}
		}
		if copied > 2*n*size {
			t.Errorf("%d bytes were copied for %d documents of %d", copied, n, size)
		}
		if room := cap(s.b); room > max(2*n*size, 1024) {
			t.Errorf("%d documents of %d bytes got %d bytes", n, size, room)
		}
	}
}

// The first documents may be larger than all others together.
func TestLargeFirstDocumentsDoNotReserveAsMuchForEachOther(t *testing.T) {
	s := &scratch{b: make([]byte, 1<<20)}
	s.foresee(1, math.MaxInt)
	if room := cap(s.b); room < 2<<20 || room > 8<<20 {
		t.Errorf("after one document of 1 MiB there is room for %d bytes", room)
	}
}

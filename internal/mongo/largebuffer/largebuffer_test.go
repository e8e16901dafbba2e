package largebuffer_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
)

// The garbage collector may empty the pool at any time, so a test can tell only what must not come out of it.
func TestWhatComesOutIsEmptyAndHasRoom(t *testing.T) {
	largebuffer.Put(make([]byte, 2*largebuffer.Least))
	for _, n := range []int{largebuffer.Least + 1, 2 * largebuffer.Least, 2*largebuffer.Least + 1} {
		if b := largebuffer.Get(n); b != nil && (len(b) != 0 || cap(b) < n) {
			t.Errorf("for %d bytes it has %d of %d", n, len(b), cap(b))
		} else if b != nil {
			largebuffer.Put(b)
		}
	}
}

func TestASmallBufferIsNotRecycled(t *testing.T) {
	largebuffer.Put(make([]byte, largebuffer.Least))
	if b := largebuffer.Get(largebuffer.Least); b != nil {
		t.Errorf("a buffer of %d bytes", cap(b))
	}
}

func TestGrowKeepsTheBytes(t *testing.T) {
	largebuffer.Put(make([]byte, 3*largebuffer.Least))
	for _, n := range []int{1, largebuffer.Least, 2 * largebuffer.Least, 4 * largebuffer.Least} {
		given := append(make([]byte, 0, 4), "abc"...)
		if b := largebuffer.Grow(given, n); string(b) != "abc" {
			t.Errorf("for %d more bytes: %q", n, b)
		}
	}
	roomy := make([]byte, 3, 100)
	if b := largebuffer.Grow(roomy, 97); &b[0] != &roomy[0] {
		t.Error("a buffer that has room was replaced")
	}
}

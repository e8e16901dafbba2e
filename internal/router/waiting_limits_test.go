package router

import "testing"

// Both limits hold, and what leaves makes room again.
func TestTheLimitsOfWaiting(t *testing.T) {
	w := waiting{most: 2, mostBytes: 100}
	for i, step := range []struct {
		size int
		full bool
	}{{60, false}, {41, true}, {40, false}, {0, true}} {
		if err := w.enter(step.size); (err != nil) != step.full {
			t.Errorf("step %d: %v", i, err)
		}
	}
	w.leave(60)
	if err := w.enter(61); err == nil {
		t.Error("61 bytes beside 40 are more than 100")
	}
	if err := w.enter(60); err != nil {
		t.Error(err)
	}
	w.leave(60)
	w.leave(40)
	if w.n != 0 || w.bytes != 0 {
		t.Errorf("%d operations, %d bytes are left", w.n, w.bytes)
	}
}

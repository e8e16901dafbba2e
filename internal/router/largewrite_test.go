package router

import (
	"net"
	"sync/atomic"
	"testing"
)

// takes is a connection that takes a large write in parts. Before each, the router looks at its clients once.
type takes struct {
	net.Conn
	c     *client
	looks *atomic.Int64
	parts []int

	stalled []bool // before each part, and at the end
}

func (w *takes) WriteLarge(b []byte, took func(n int)) (int, error) {
	for _, n := range w.parts {
		w.looks.Add(1)
		w.stalled = append(w.stalled, w.c.progress.stalled())
		took(n)
	}
	return len(b), nil
}

// Who takes less than a MiB of a large reply in time has stalled, however many parts that are.
func TestTheProgressOfALargeWrite(t *testing.T) {
	const part = stallStep / 4
	w := &takes{looks: new(atomic.Int64)}
	w.looks.Add(1)
	w.c = &client{conn: w, progress: progress{looks: w.looks}}
	w.parts = []int{part, part, part, part, part, 3 * part, 8 * part, part, 0, 0, part, part - 1, 0}
	if err := w.c.write(make([]byte, 20*stallStep)); err != nil {
		t.Fatal(err)
	}
	for i, stalled := range w.stalled {
		if want := i == 12; stalled != want { // the six looks after the part of two MiB
			t.Errorf("before part %d it has stalled: %v, want %v", i, stalled, want)
		}
	}
	if w.looks.Add(100); w.c.progress.stalled() {
		t.Error("it has stalled after the write")
	}
}

package cluster

import (
	"slices"
	"sync"
	"testing"
)

func TestANoticeIsDeliveredAfterTheOneThatAddedIt(t *testing.T) {
	var mu sync.Mutex
	var got []string
	n := notices{lock: &mu}
	add := func(f func()) {
		mu.Lock()
		n.add(f)
		mu.Unlock()
	}
	add(func() {
		got = append(got, "the first begins")
		add(func() { got = append(got, "the second") })
		n.deliver()
		got = append(got, "the first ends")
	})
	n.deliver()
	if want := []string{"the first begins", "the first ends", "the second"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The application may recover from a panic of its listener.
func TestANoticeThatPanicsDoesNotStopTheOthers(t *testing.T) {
	var mu sync.Mutex
	n := notices{lock: &mu}
	called := false
	n.add(func() { panic("the listener") })
	n.add(func() { called = true })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		n.deliver()
	}()
	if !called {
		t.Error("the second notice was not delivered")
	}
}

func TestAllEffectsRunAlthoughOnePanics(t *testing.T) {
	var ran []int
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		effects{func() { ran = append(ran, 1) }, func() { panic("the listener") }, func() { ran = append(ran, 3) }}.run()
	}()
	if !slices.Equal(ran, []int{1, 3}) {
		t.Errorf("%v have run", ran)
	}
}

package prove

import (
	"context"
	"testing"
	"testing/synctest"
)

func servedReferee(t *testing.T, writers int) *referee {
	t.Helper()
	r := newReferee(writers)
	go func() {
		if r.everyWriter(t.Context()) == nil {
			r.mended()
		}
	}()
	synctest.Wait()
	for w := range writers {
		id := OpID{w, 0}
		if r.permit(id) {
			t.Fatal("a fault is permitted before every writer has had an operation acknowledged")
		}
		if err := r.begin(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.end(id, true)
	}
	synctest.Wait()
	return r
}

func TestAFaultOfTheClusterWaitsForOperationsWithFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 2)
		a, b := OpID{0, 1}, OpID{1, 1}
		if !r.permit(a) {
			t.Fatal("a fault of one message is not permitted although the cluster is whole")
		}
		if r.claim(t.Context(), a) {
			t.Error("an operation with a fault gets a second one")
		}
		claimed := false
		go func() { claimed = r.claim(t.Context(), b) }()
		synctest.Wait()
		if claimed || r.permit(OpID{1, 2}) {
			t.Error("a fault is permitted while a fault of the cluster waits")
		}
		r.end(a, true)
		synctest.Wait()
		if !claimed {
			t.Error("the fault of the cluster still waits although no operation has a fault")
		}
		r.end(b, true) // its fault did not happen
		if !r.permit(OpID{0, 3}) {
			t.Error("a fault that did not happen prevents others")
		}
	})
}

func TestAfterAFaultOfTheClusterFaultsWaitForEveryWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 2)
		a := OpID{0, 1}
		before := OpID{1, 1}
		_ = r.begin(t.Context(), before)
		_ = r.begin(t.Context(), a)
		if !r.claim(t.Context(), a) {
			t.Fatal("no claim")
		}
		r.broke()
		go func() {
			if r.everyWriter(t.Context()) == nil {
				r.mended()
			}
		}()
		synctest.Wait()
		r.end(a, true)
		r.end(before, true)
		synctest.Wait()
		if r.permit(OpID{0, 9}) {
			t.Error("an operation that began before the fault counts")
		}
		_ = r.begin(t.Context(), OpID{0, 1})
		r.end(OpID{0, 1}, false)
		_ = r.begin(t.Context(), OpID{0, 2}) // does not wait: an error does not count
		r.end(OpID{0, 2}, true)
		waiting := true
		go func() { waiting = r.begin(t.Context(), OpID{0, 3}) != nil }()
		synctest.Wait()
		if !waiting {
			t.Error("a writer with an acknowledged operation does not wait for the other")
		}
		r.leave(1)
		synctest.Wait()
		if waiting || !r.permit(OpID{0, 3}) {
			t.Error("everyWriter still waits for a writer that has ended")
		}
	})
}

func TestEveryWriterEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newReferee(2).everyWriter(ctx); err == nil {
		t.Error("everyWriter does not end")
	}
}

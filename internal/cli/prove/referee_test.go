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
		if r.permit(id, RequestLost) {
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
		if !r.permit(a, RequestLost) {
			t.Fatal("a fault of one message is not permitted although the cluster is whole")
		}
		if r.claim(t.Context(), a, PrimaryKilled) {
			t.Error("an operation with a fault gets a second one")
		}
		claimed := false
		go func() { claimed = r.claim(t.Context(), b, PrimaryKilled) }()
		synctest.Wait()
		if claimed || r.permit(OpID{1, 2}, RequestLost) {
			t.Error("a fault is permitted while a fault of the cluster waits")
		}
		r.end(a, true)
		synctest.Wait()
		if !claimed {
			t.Error("the fault of the cluster still waits although no operation has a fault")
		}
		r.end(b, true) // its fault did not happen
		if !r.permit(OpID{0, 3}, RequestLost) {
			t.Error("a fault that did not happen prevents others")
		}
	})
}

func TestAFaultOfTheClusterHappensOnlyDuringItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 2)
		a, b := OpID{0, 1}, OpID{1, 1}
		if r.breaks(a) {
			t.Error("a fault happens without a claim")
		}
		if !r.claim(t.Context(), a, FailedOver) {
			t.Fatal("no claim")
		}
		if r.breaks(b) {
			t.Error("a fault happens in the claim of another operation")
		}
		r.end(a, true) // for example because the client has given the operation up
		if r.breaks(a) {
			t.Error("a fault happens after its claim has ended")
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
		if !r.claim(t.Context(), a, PrimaryKilled) {
			t.Fatal("no claim")
		}
		r.breaks(r.claimant)
		go func() {
			if r.everyWriter(t.Context()) == nil {
				r.mended()
			}
		}()
		synctest.Wait()
		r.end(a, true)
		r.end(before, true)
		synctest.Wait()
		if r.permit(OpID{0, 9}, RequestLost) {
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
		if waiting || !r.permit(OpID{0, 3}, RequestLost) {
			t.Error("everyWriter still waits for a writer that has ended")
		}
	})
}

// Some faults of the cluster follow the end of an operation that was sent again.
func TestAFaultThatFollowsARetry(t *testing.T) {
	y, other, lost, answered := OpID{0, 1}, OpID{1, 1}, OpID{2, 1}, OpID{1, 2}
	for _, c := range []struct {
		name string
		do   func(r *referee)
		want string
	}{
		{"it waits while no operation has a fault", func(*referee) {}, "waits"},
		{"it happens when the operation that was sent again has ended", func(r *referee) {
			r.permit(lost, RequestLost)
			r.end(lost, true)
		}, "granted"},
		{"it happens when the operation was refused because of overload", func(r *referee) {
			r.permit(lost, ServerOverloaded)
			r.end(lost, true)
		}, "granted"},
		{"it happens when the operation has failed", func(r *referee) {
			r.permit(lost, RequestLost)
			r.end(lost, false)
		}, "granted"},
		{"it waits until the operation has ended", func(r *referee) { r.permit(lost, RequestLost) }, "waits"},
		{"an operation that was applied before its reply was lost is not enough", func(r *referee) {
			r.permit(answered, ReplyLost)
			r.end(answered, true)
		}, "waits"},
		{"it waits for the next one if another operation with a fault ends later", func(r *referee) {
			r.permit(answered, ReplyLost)
			r.permit(lost, RequestLost)
			r.end(lost, true)
			r.end(answered, true)
		}, "waits"},
		{"another operation with a fault may end before", func(r *referee) {
			r.permit(answered, ReplyLost)
			r.permit(lost, RequestLost)
			r.end(answered, true)
			r.end(lost, true)
		}, "granted"},
		{"no other fault of the cluster happens before", func(r *referee) {
			if r.claim(t.Context(), other, PrimaryKilled) {
				t.Error("another fault of the cluster is granted")
			}
		}, "waits"},
		{"it does not happen if the outage begins", func(r *referee) {
			if !r.claim(t.Context(), other, Outage) {
				t.Error("the outage is not granted")
			}
			r.finish()
		}, "refused"},
		{"it does not happen if no other writer is left", func(r *referee) {
			r.leave(1)
			r.leave(2)
		}, "refused"},
		{"it does not happen after the load", func(r *referee) { r.finish() }, "refused"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := servedReferee(t, 3)
			got := "waits"
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if granted := r.claimAfterRetry(ctx, y); ctx.Err() == nil {
					got = map[bool]string{true: "granted", false: "refused"}[granted]
				}
			}()
			synctest.Wait()
			c.do(r)
			synctest.Wait()
			if got != c.want {
				t.Errorf("%s: it is %s, want %s", c.name, got, c.want)
			}
			cancel()
		})
	}
}

func TestOnlyOneFaultAtATimeWaitsForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.claimAfterRetry(ctx, OpID{0, 1})
		synctest.Wait()
		if r.claimAfterRetry(ctx, OpID{1, 1}) {
			t.Error("a second one is granted")
		}
		if !r.permit(OpID{2, 1}, RequestLost) || r.permit(OpID{1, 1}, ReplyLost) {
			t.Error("a fault of one message is not permitted, or one is after it")
		}
	})
}

// An operation is calm if it had no fault and the cluster was whole all the time.
func TestCalmOperations(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, r *referee, id OpID)
		calm bool
	}{
		{"nothing happens", func(*testing.T, *referee, OpID) {}, true},
		{"another operation has a fault", func(_ *testing.T, r *referee, _ OpID) { r.permit(OpID{1, 1}, RequestLost) }, true},
		{"it has a fault", func(_ *testing.T, r *referee, id OpID) { r.permit(id, RequestLost) }, false},
		{"it waits for a fault of the cluster", func(t *testing.T, r *referee, id OpID) { r.claim(t.Context(), id, PrimaryKilled) }, false},
		{"a fault of the cluster happens", func(t *testing.T, r *referee, _ OpID) {
			r.claim(t.Context(), OpID{1, 1}, PrimaryKilled)
			r.breaks(r.claimant)
			r.mended()
		}, false},
		{"the outage begins", func(_ *testing.T, r *referee, _ OpID) { r.finish() }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, id := servedReferee(t, 2), OpID{0, 1}
			_ = r.begin(t.Context(), id)
			c.do(t, r, id)
			if calm := r.end(id, true); calm != c.calm {
				t.Errorf("%s: the operation is calm: %t", c.name, calm)
			}
		})
	}
}

func TestEveryWriterEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newReferee(2).everyWriter(ctx); err == nil {
		t.Error("everyWriter does not end")
	}
}

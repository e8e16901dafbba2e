package site

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

func insert() explore.Message { return explore.Message{Command: "insert", Target: "shop.orders"} }

func arrive(b *Base) *Arrival { return b.Arrived(insert(), "member 0", Key{}) }

// struckBy returns the base of a run whose second insert meets a failure.
func struckBy(failure string) *Base {
	second := insert()
	second.Ordinal = 2
	return New(explore.Case{{Message: second, Failure: failure}})
}

func told(b *Base) (o explore.Outcome) {
	b.Tell(&o, nil)
	return o
}

func TestAFailureHappensToItsMessageAlone(t *testing.T) {
	b := struckBy("reply-lost")
	for n, want := range []string{"", "reply-lost", ""} {
		if a := arrive(b); a.Failure != want || a.Ordinal != n+1 {
			t.Errorf("message %d of %d meets %q, wanted %q", a.Ordinal, n+1, a.Failure, want)
		}
	}
	if o := told(b); len(o.Struck) != 1 || o.Struck[0] != 1 || !o.Events[1].Struck || o.Events[0].Struck || o.Events[2].Struck {
		t.Errorf("%+v", o)
	}
}

func TestAFailureThatDidNotHappenIsNotTold(t *testing.T) {
	b := struckBy("killed-during")
	arrive(b)
	arrive(b).missed()
	if o := told(b); len(o.Struck) != 0 || o.Events[1].Struck {
		t.Errorf("%+v", o)
	}
}

func TestWhatComesAfterTheEndIsNotRecorded(t *testing.T) {
	b := New(nil)
	calls := 0
	b.EndFailures(func() { calls++ })
	b.EndFailures(func() { calls++ })
	if arrive(b) != nil || len(told(b).Messages) != 0 {
		t.Error("a message of the check is recorded")
	}
	if calls != 1 {
		t.Errorf("the failures ended %d times", calls)
	}
}

func TestTheEndCutsFailuresShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(nil)
		began := time.Now()
		var repaired atomic.Int32
		b.Later(time.Second, func() { repaired.Add(1) })
		b.Later(time.Hour, func() { repaired.Add(1) })
		waited := make(chan time.Duration, 1)
		go func() {
			b.Wait(time.Hour)
			waited <- time.Since(began)
		}()
		<-time.After(time.Minute)
		if repaired.Load() != 1 {
			t.Errorf("after a minute %d failures are repaired", repaired.Load())
		}
		b.EndFailures(func() {})
		if d := <-waited; d != time.Minute || repaired.Load() != 2 {
			t.Errorf("it waited for %v; %d failures are repaired", d, repaired.Load())
		}
		b.Later(time.Hour, func() { repaired.Add(1) })
		if repaired.Load() != 3 {
			t.Error("a failure that begins after the end is not repaired at once")
		}
	})
}

func TestAFailureThatPanicsLosesItsMessage(t *testing.T) {
	b := struckBy("own")
	arrive(b)
	lost := false
	func() {
		defer b.Panicked(arrive(b), func() { lost = true })
		panic("oh")
	}()
	if o := told(b); !lost || len(o.Problems) != 1 {
		t.Errorf("lost %t: %q", lost, o.Problems)
	}
}

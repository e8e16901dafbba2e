package prove

import (
	"testing"
	"testing/synctest"
)

// planOf returns a plan in which every operation of one writer has this kind of fault.
func planOf(kind FaultKind) plan {
	return newPlan(1, Failure{Name: "test", faults: []FaultKind{kind}}, 1, 1)
}

// An operation that has a fault cannot begin the outage, and its fault goes on: a command error strikes each of its messages.
func TestAnOperationIsRefusedAgainWhileTheOutageWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 1)
		i := newInjector(t.Context(), planOf(CommandRefused), r, nil, nil, false)
		p := part{OpID{0, 1}, FirstStep}
		_ = r.begin(t.Context(), p.op)
		if f := i.intercept(message{p, messageID{1, 1}}); f.refuse == nil {
			t.Fatal("the first message is not refused")
		}
		i.endLoad()
		if f := i.intercept(message{p, messageID{1, 2}}); f.refuse == nil || f.loseRequest {
			t.Errorf("the second message, while the outage waits: %+v", f)
		}
		if !i.darkSince().IsZero() {
			t.Error("the outage began with an operation that has a fault")
		}
	})
}

// A message that may begin the outage begins it, whatever is planned for it.
func TestTheOutageBeginsWithTheNextMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := servedReferee(t, 1)
		i := newInjector(t.Context(), planOf(CommandRefused), r, nil, nil, false)
		i.endLoad()
		f := i.intercept(message{part{OpID{0, 1}, FirstStep}, messageID{1, 1}})
		if !f.loseRequest || f.refuse != nil || i.darkSince().IsZero() {
			t.Errorf("%+v; the outage began at %v", f, i.darkSince())
		}
	})
}

// After enough faults of the cluster of a kind there are no more that happen on the same side of the execution.
func TestAFaultOfTheClusterThatHappenedOftenEnoughIsLeftOut(t *testing.T) {
	early, late := planned{kind: FailedOver}, planned{kind: FailedOver, moment: afterReplication}
	for _, c := range []struct {
		name     string
		goal     int
		happened []planned
		next     planned
		want     bool
	}{
		{"too few", 2, []planned{early, late}, early, true},
		{"enough", 2, []planned{early, late, early}, early, false},
		{"enough, on the other side", 2, []planned{early, early}, late, true},
		{"enough, of another kind", 2, []planned{early, early}, planned{kind: BlackHoled}, true},
		{"a higher goal", 3, []planned{early, early}, early, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			i := newInjector(t.Context(), plan{}, servedReferee(t, 1), nil, nil, false)
			i.goal = func(FaultKind) int { return c.goal }
			for _, f := range c.happened {
				i.happened(&hit{planned: f})
			}
			f := i.breakCluster(&hit{part: part{op: OpID{0, 1}}, planned: c.next})
			if got := f.before != nil || f.after != nil; got != c.want {
				t.Errorf("%s: %t, want %t", c.name, got, c.want)
			}
		})
	}
}

func TestNoFaultOfTheClusterBeginsAfterTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInjector(t.Context(), planOf(FailedOver), servedReferee(t, 1), nil, nil, false)
		i.finish()
		if i.mayStrike() {
			t.Error("a fault may begin")
		}
		i.finish() // it would wait for ever for a fault that was noted
	})
}

func TestARefusalHasItsCodeItsNameAndItsMessage(t *testing.T) {
	for _, r := range refusals {
		got := mongoFault(treatment{refuse: &planned{kind: CommandRefused, code: r.code}}).Error
		if got == nil || got.Code != r.code || got.Name != r.name || got.Message != r.message || r.message == "" {
			t.Errorf("%d is refused with %+v", r.code, got)
		}
	}
}

package prove

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLongestDelayOfATimerIsThatOfTheCellsTime(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name  string
		fired []int // when the only timer fired, in ms; it is due 10 ms after it has fired, and first at 0
		now   int
		want  time.Duration
	}{
		{"in time", []int{0, 10, 20}, 25, 0},
		{"late", []int{0, 10, 140}, 145, 120 * time.Millisecond},
		{"late before the cell began", []int{-10, 0}, 5, 0},
		{"it has not fired yet", []int{0, 10}, 320, 300 * time.Millisecond},
	} {
		p := probes{due: []time.Time{at(-500)}}
		p.fired(0, at(-10)) // very late, before the cell
		for _, ms := range c.fired {
			p.fired(0, at(ms))
		}
		if got := p.longest(began, at(c.now)); max(got, 0) != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheDelayOfALookIsForgottenAtTheNext(t *testing.T) {
	now := time.Unix(1000, 0)
	p := probes{due: []time.Time{now}}
	p.fired(0, now.Add(time.Second))
	if first, second := p.latest(), p.latest(); first != time.Second || second != 0 {
		t.Errorf("%v, then %v", first, second)
	}
}

// On the fake clock every timer fires in time.
func TestNoTimerIsLateOnTheFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p probes
		began := time.Now()
		p.run(t.Context())
		<-time.After(time.Second)
		if late := p.longest(began, time.Now()); late > 0 {
			t.Errorf("%v late", late)
		}
	})
}

// A cell tolerates half of the shortest time in which something must happen. When it runs alone, its times are as much longer as it is to tolerate
// more.
func TestTheTolerance(t *testing.T) {
	for _, c := range []struct {
		backend *Backend
		want    time.Duration
		alone   []time.Duration // the factors of the runs alone
	}{
		{MongoDB, 100 * time.Millisecond, []time.Duration{4, 8, 8}},
		{Couchbase, 200 * time.Millisecond, []time.Duration{2, 4, 4}},
	} {
		s := c.backend.DefaultSettings()
		if got := s.Timing.tolerance(); got != c.want {
			t.Errorf("%s: %v, want %v", c.backend.Title, got, c.want)
		}
		for n, factor := range c.alone {
			alone := s.alone(n)
			if got := alone.Timing.tolerance(); got != factor*c.want {
				t.Errorf("%s, alone, run %d: %v, want %v", c.backend.Title, n, got, factor*c.want)
			}
			if alone.LoadLimit != factor*s.LoadLimit || alone.Timing.Heartbeat != s.Timing.Heartbeat {
				t.Errorf("%s, alone, run %d: %+v", c.backend.Title, n, alone)
			}
		}
	}
	tolerant := Settings{Timing: Timing{ServerSelection: time.Hour}}
	if got := tolerant.alone(0).Timing.ServerSelection; got != time.Hour {
		t.Errorf("times that tolerate enough are %v, want an hour", got)
	}
}

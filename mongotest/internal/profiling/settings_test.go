package profiling

import (
	"testing"
	"time"
)

func TestWhatIsRecorded(t *testing.T) {
	filter := []byte{5, 0, 0, 0, 0}
	for _, c := range []struct {
		name    string
		state   State
		took    time.Duration
		matches bool
		want    bool
	}{
		{"nothing at level 0", State{Rule{Level: Off}, 0, 1}, time.Second, true, false},
		{"what takes slowms at level 1", State{Rule{Level: Slow}, 100, 1}, 100 * time.Millisecond, false, true},
		{"nothing faster", State{Rule{Level: Slow}, 100, 1}, 99 * time.Millisecond, true, false},
		{"everything with a slowms of 0", State{Rule{Level: Slow}, 0, 1}, 0, false, true},
		{"everything with a negative slowms", State{Rule{Level: Slow}, -1, 1}, 0, false, true},
		{"nothing with a sampleRate of 0", State{Rule{Level: Slow}, 100, 0}, time.Second, false, false},
		{"what a filter has, however fast and whatever the sampleRate", State{Rule{Slow, filter}, 100, 0}, 0, true, true},
		{"and nothing else, however slow", State{Rule{Slow, filter}, 100, 1}, time.Second, false, false},
		{"everything at level 2, whatever the filter, slowms and sampleRate say", State{Rule{All, filter}, 100, 0}, 0, false, true},
	} {
		if got := c.state.Wants(c.took, func([]byte) bool { return c.matches }); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestLimitsHoldForAllDatabases: slowms and sampleRate are the server's, the level and the filter are a database's.
func TestLimitsHoldForAllDatabases(t *testing.T) {
	var s Settings
	s.Reset()
	before := s.Change("a", func(s *State) { s.Level, s.SlowMS, s.SampleRate = All, 20, 0.5 })
	if before.Level != Off || before.SlowMS != 100 || before.SampleRate != 1 {
		t.Errorf("it began with %+v", before)
	}
	if s.Idle() {
		t.Error("nothing is profiled")
	}
	if b := s.Of("b"); b.Level != Off || b.SlowMS != 20 || b.SampleRate != 0.5 {
		t.Errorf("another database has %+v", b)
	}
	if s.Forget("a"); !s.Idle() || s.Of("a").Level != Off || s.Of("a").SlowMS != 20 {
		t.Errorf("once dropped it has %+v", s.Of("a"))
	}
}

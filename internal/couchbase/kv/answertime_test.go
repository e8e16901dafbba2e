package kv

import (
	"testing"
	"time"
)

func TestLongestAnswer(t *testing.T) {
	const ms = time.Millisecond
	c := new(Conn)
	for _, step := range []struct {
		at       time.Duration
		answered []time.Duration
		want     time.Duration
	}{
		{0, nil, 0},
		{100 * ms, []time.Duration{5 * ms, 9 * ms, 7 * ms}, 9 * ms},
		{999 * ms, []time.Duration{2 * ms}, 9 * ms},
		{1000 * ms, []time.Duration{2 * ms}, 9 * ms}, // a new second
		{1999 * ms, []time.Duration{3 * ms}, 9 * ms},
		{2000 * ms, nil, 3 * ms},
		{3500 * ms, []time.Duration{4 * ms}, 4 * ms},
		{5500 * ms, nil, 0}, // there was none in the second before
	} {
		c.times.turnLocked(int64(step.at))
		for _, d := range step.answered {
			c.Answered(d)
		}
		if got := c.LongestAnswer(); got != step.want {
			t.Errorf("after %v: %v, want %v", step.at, got, step.want)
		}
	}
}

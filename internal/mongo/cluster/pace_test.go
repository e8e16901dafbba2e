package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAPaceLetsOneBeginInAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		for _, c := range []struct{ after, want time.Duration }{
			{0, 0}, {0, time.Second}, {300 * time.Millisecond, 700 * time.Millisecond}, {700 * time.Millisecond, 0}, {0, time.Second}, {2 * time.Second, 0},
		} {
			pass(t, c.after)
			if got := p.begin(time.Second); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		}
	})
}

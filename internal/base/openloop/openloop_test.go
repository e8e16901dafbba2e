package openloop_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/openloop"
)

// The second call takes long. Two more should have begun meanwhile, and count the time that they waited.
func TestACallThatTakesLongDelaysTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, broken := 0, errors.New("broken")
		got, err := openloop.Durations(10*time.Millisecond, func(i int) bool { return i < 5 }, func() error {
			calls++
			if calls == 2 {
				<-time.After(25 * time.Millisecond)
				return broken
			}
			<-time.After(time.Millisecond)
			return nil
		})
		ms := time.Millisecond
		want := []time.Duration{ms, ms, 7 * ms, 16 * ms, 25 * ms}
		if !slices.Equal(got, want) || !errors.Is(err, broken) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	})
}

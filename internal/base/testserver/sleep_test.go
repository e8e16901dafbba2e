package testserver_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

func TestSleepEndsWithTheConnection(t *testing.T) {
	done := make(chan struct{})
	for _, d := range []time.Duration{-1, 0, 1} {
		if !testserver.Sleep(done, d) {
			t.Errorf("%v: the connection has not ended", d)
		}
	}
	close(done)
	if testserver.Sleep(done, time.Hour) {
		t.Error("the connection has ended")
	}
}

package kv

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/retry"
)

var errRetired = errors.New("retired")

func TestARetiredConnectionAnswersOnlyWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilent()
		c := s.connect(t, nil)
		before := begin(c, get("before"))
		if c.Retire(errRetired) {
			t.Error("it was closed while a request was on its way")
		}
		begin(c, get("after")).wantError(t, retry.StageBeforeSending, errRetired)
		if n := s.release(); n != 1 {
			t.Errorf("%d requests were sent; want 1", n)
		}
		before.wantReply(t, "before")
		if !c.Retire(errRetired) || !errors.Is(c.Err(), errRetired) {
			t.Errorf("without requests it is not closed: %v", c.Err())
		}
	})
}

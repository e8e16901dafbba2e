package once_test

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A mongos that got no reply from a member does not know whether the member has made the first step, and neither does the caller.
func TestAMongosWithoutAReplyLeavesTheStateUnknown(t *testing.T) {
	for _, c := range []struct {
		code int32
		want once.State
	}{
		{6, once.Unknown},
		{9001, once.Unknown},
		{133, once.NotApplied}, // no member was found
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(one)
			w.server.Use("update", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: c.code}}))
			_, err := w.UpdateOne(w.t.Context(), one, increment)
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != c.want {
				w.t.Errorf("code %d: %v, want the state %v", c.code, err, c.want)
			}
		})
	}
}

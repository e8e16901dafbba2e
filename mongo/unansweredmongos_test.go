package mongo_test

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// A mongos that got no reply from a member does not know whether the member has done the write, and neither does its client. From a member
// itself the same code says that nothing was done.
func TestAMongosWithoutAReplyLeavesTheOutcomeOpen(t *testing.T) {
	for _, c := range []struct {
		about  string
		run    func() (*mongotest.Deployment, error)
		code   int32
		labels []string
		open   bool
	}{
		{"HostUnreachable of a mongos", sharded(1), 6, nil, true},
		{"SocketException of a mongos", sharded(1), 9001, nil, true},
		{"MaxTimeMSExpired of a mongos", sharded(1), 50, nil, true},
		{"the mongos says that nothing was written", sharded(1), 6, []string{"NoWritesPerformed"}, false},
		{"FailedToSatisfyReadPreference of a mongos", sharded(1), 133, nil, false},
		{"HostUnreachable of a member", replicaSet, 6, nil, false},
	} {
		t.Run(c.about, func(t *testing.T) {
			inside(t, c.run, nil, func(w *world) {
				w.seed()
				w.heal = w.set.Use("update", mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: c.code, Labels: c.labels}}))
				var history *retry.Error
				if err := updateOne(w); !errors.As(err, &history) || history.MayHaveApplied() != c.open {
					w.Errorf("%v: it may have been applied: %t, want %t", err, history != nil && history.MayHaveApplied(), c.open)
				}
			})
		})
	}
}

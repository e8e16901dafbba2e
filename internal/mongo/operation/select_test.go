package operation

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestTheSecondRetryGoesToAServerThatHasNotFailed(t *testing.T) {
	inside(t, func() (*mongotest.Deployment, error) { return mongotest.RunReplicaSet(2, mongotest.InMemory()) }, func(w *world) {
		before := w.runner.Cluster().Snapshot()
		w.server()
		synctest.Wait() // both members are known
		for name, after := range map[string]*cluster.Snapshot{
			"the topology has changed since the failure":     before,
			"the topology has not changed since the failure": w.runner.Cluster().Snapshot(),
		} {
			for range 20 {
				r := &run{Runner: w.runner, op: op(Read, constant("find", "c")), after: after, tried: []string{w.set.Addr(0)}}
				r.op.Selection = &topology.Selection{ReadPref: readpref.Nearest(), LocalThreshold: time.Hour}
				target, err := r.selectServer(w.Context(), 2)
				w.must(err)
				if got := target.Server.Address(); got != w.set.Addr(1) {
					t.Fatalf("%s: the server is %s, and %s has failed", name, got, w.set.Addr(0))
				}
			}
		}
	})
}

//go:build defects

package prove

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The deployments of this file make defects visible that make no difference in the usual ones.

// world is a deployment whose servers differ from the usual ones.
type world struct {
	*Embedded
	servers func(*replicaSet) mongoServers
}

func (w world) open(c *cell) (site, error) {
	usual, err := w.run(c.settings)
	if err != nil {
		return nil, err
	}
	return newMongoSite(w.servers(usual), c), nil
}

// withoutFaults is a world in which the faults are announced, and do not happen.
func withoutFaults(tr *trial) {
	tr.deployment = world{Memory(), func(rs *replicaSet) mongoServers { return faultless{rs} }}
}

type faultless struct{ *replicaSet }

func (f faultless) intercept(m mongotest.Middleware) func() {
	return f.replicaSet.intercept(func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		m(r, func(*mongotest.Request) *mongotest.Reply { return &mongotest.Reply{} })
		return next(r)
	})
}

// withOldSecondary is a world in which the only secondary that clients see is an hour behind.
func withOldSecondary(tr *trial) {
	d := Memory()
	d.more = []mongotest.Option{
		mongotest.Member(1, mongotest.Priority(0), mongotest.SecondaryDelay(time.Hour)),
		mongotest.Member(2, mongotest.Priority(0), mongotest.Hidden()),
	}
	tr.deployment = d
}

// withReturningPrimary is a world in which a partitioned primary comes back before the client hears of any of it: it
// rolls back a write that only it has, and takes over again because of its priority. It has one writer, because a second
// operation could meet both changes of the primary.
func withReturningPrimary(tr *trial) {
	d := Memory()
	d.more = []mongotest.Option{mongotest.Member(0, mongotest.Priority(2))}
	tr.deployment = world{d, func(rs *replicaSet) mongoServers { return returning{rs} }}
	tr.settings.Size.Writers = 1
	tr.settings.Timing.Heartbeat = time.Minute
}

type returning struct{ *replicaSet }

func (r returning) strike(kind FaultKind) (repair func(), err error) {
	if kind != Partitioned {
		return nil, fmt.Errorf("%s is not a fault of this world", kind)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	<-time.After(r.settings.Timing.ServerSelection) // the client's checks after the fault before end first
	p := r.Primary()
	r.Partition([]int{p})
	_, err = r.Command(p, "elsewhere", bson.D{
		{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{}}}, {Key: "writeConcern", Value: bson.D{{Key: "w", Value: 1}}},
	})
	if err != nil {
		return nil, err
	}
	if _, err = r.WaitPrimary(ctx); err != nil {
		return nil, err
	}
	r.Heal()
	for state := "PRIMARY"; err == nil; {
		if state, err = r.WaitState(ctx, p, state); state == "PRIMARY" {
			return nil, r.awaitPrimary(ctx)
		}
	}
	return nil, err
}

// These worlds alone must not cause a bad verdict. Where the primary returns, the faults before the execution of a message
// do not prevent it, so there may be too few hits to show the verdict.
func TestTheWorldsAloneAreHarmless(t *testing.T) {
	for _, c := range []struct {
		name, failure string
		adjust        func(*trial)
	}{
		{"a primary that returns", "partition", withReturningPrimary},
		{"an old secondary", "request-lost", withOldSecondary},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, r := range overSeeds(t, "seeds", control{failure: c.failure, adjust: c.adjust}.trial) {
				if r.Error != "" || !r.Expected.met(r.Verdict) {
					t.Errorf("seed %d is not as expected", i+1)
					explain(t, i+1, r)
				}
			}
		})
	}
}

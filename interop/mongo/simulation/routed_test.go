package simulation

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongo"
)

func TestRouterSimulation(t *testing.T) {
	simlife.Run(t, "router-simulated", simlife.Seeds(2, raceEnabled), func(t *testing.T, seed uint64) (time.Duration, int) {
		l := liveInBubble(t, routed(seed))
		found := l.check()
		l.report(t, found)
		l.checkSize(t)
		return l.lasted, len(found)
	})
}

// variants are a client for each worker. Half of them never retry. Half know each router by its name, and half a balancer.
func (r *routers) variants() []variant {
	var all []variant
	for id := range r.Workers {
		retries, balanced := id%2 == 0, id/2%2 == 0
		all = append(all, func(o *options.ClientOptions) (*mongo.Client, error) {
			a := &askers{history: r.history, asked: make(map[int64]string)}
			o.SetDialer(r).SetMonitor(a.monitor()).SetRetryWrites(retries).SetRetryReads(retries)
			if balanced {
				return mongo.Connect(o.ApplyURI("mongodb://" + balancer + "/?loadBalanced=true"))
			}
			return mongo.Connect(o.ApplyURI("mongodb://" + routerAddress(0) + "," + routerAddress(1)))
		})
	}
	return all
}

//go:build defects

package prove

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
	"github.com/holdfast-db/holdfast/mongo"
)

// routerControls are the negative controls of the router's defects. A sound router's cell has the verdict sound.
var routerControls = []struct {
	control
	defect defect.Name
	sound  Verdict
}{
	{control{name: "new-txn-number", strategy: NoRetry, shows: OverCounts}, defect.NewTxnNumberOnRetry, Right},
	{control{name: "multi-update-retried", strategy: NoRetry, failure: "reply-lost", adjust: updatesMany, shows: OverCounts}, defect.MultiUpdateRetried, Right},
	{
		// The loop repeats what a server calls a change of state. A sound router calls it HostUnreachable, of which nobody knows whether it was
		// applied: the loop gives it up, and misses what was not.
		control{name: "state-change-let-through", strategy: OneRetry, failure: "step-down", adjust: updatesMany, shows: OverCounts},
		defect.StateChangeLetThrough, UnderCounts,
	},
}

func (c control) behindRouter(seed int) trial {
	tr := c.trial(seed)
	tr.deployment, tr.settings.Timing = Routed{Memory()}, Router.DefaultSettings().Timing
	return tr
}

func TestDefectsOfTheRouterAreCaught(t *testing.T) {
	for _, c := range routerControls {
		t.Run(c.name, func(t *testing.T) {
			caught, sound := 0, overFirst(t, atLeastTwo(), "sound", c.behindRouter)
			t.Cleanup(defect.Switch(c.defect))
			for i, r := range overFirst(t, atLeastTwo(), "defective", c.behindRouter) {
				if sound[i].shown() && sound[i].Verdict == c.sound && r.shown() && r.Verdict == c.shows {
					caught++
					continue
				}
				t.Errorf("seed %d: the mutant was not caught, or the cell without it is not as it must be", i+1)
				explain(t, i+1, sound[i])
				explain(t, i+1, r)
			}
			figure("router-mutants-caught-"+c.name, caught)
		})
	}
}

// updatesMany makes the clients write by UpdateMany, which no server deduplicates.
func updatesMany(tr *trial) {
	dial := tr.dial
	tr.dial = func(t Target) (Client, error) {
		c, err := dial(t)
		if err != nil {
			return nil, err
		}
		h := c.(*holdfastClient)
		return manyUpdates{h, h.client.Database(t.Database).Collection(t.Collection)}, nil
	}
}

type manyUpdates struct {
	*holdfastClient
	written *mongo.Collection
}

// Update implements [Client].
func (m manyUpdates) Update(ctx context.Context, u Update) error {
	_, err := m.written.UpdateMany(ctx, u.Filter, u.Change, options.UpdateMany().SetUpsert(u.Upsert))
	return err
}

package inspect

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Router is what a `holdfast router` says of itself. Clients see a mongos.
type Router struct {
	SetName string `json:"set_name,omitempty" bson:"setName"` // of the replica set behind it
	Ready   bool   `json:"ready"`                             // a member takes writes
}

// lookForRouter asks a mongos whether it is a router. A real mongos has no such field in its answer, which needs no login.
func (w *Watcher) lookForRouter(ctx context.Context, d *topology.Description) {
	if d.Type != topology.Sharded {
		return
	}
	var reply struct {
		Router *Router `bson:"holdfastRouter"`
	}
	if w.client.Database("admin").RunCommand(ctx, bson.D{{Key: "isdbgrid", Value: 1}}).Decode(&reply) == nil {
		w.router.Store(reply.Router)
	}
}

// routedSet surveys the set behind a router. Its members are those of its configuration: a router has no hello that names them.
func (s *survey) routedSet(ctx context.Context, w *Watcher, r *Router) SetFacts {
	facts := s.set(ctx, w, &topology.Description{SetName: r.SetName})
	facts.HasPrimary = r.Ready
	return facts
}

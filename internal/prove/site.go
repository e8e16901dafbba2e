package prove

import (
	"context"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// site is a deployment that one cell has for itself.
type site interface {
	// target says where clients connect; the cell fills in the rest.
	target() Target
	// intercept puts middleware around every update, until the returned function is called.
	intercept(m mongotest.Middleware) (remove func())
	// strike does a fault that breaks the cluster. The repair, which may be nil, undoes it.
	strike(kind FaultKind) (repair func(), err error)
	// awaitPrimary waits until there is a primary that a majority follows.
	awaitPrimary(ctx context.Context) error
	// blackout makes everything unreachable.
	blackout()
	// restore heals everything and waits until nothing runs any more.
	restore(ctx context.Context) error
	// journal returns what the servers did; false: nobody knows.
	journal() ([]mongotest.Entry, bool)
	close() error
}

// Deployment makes the sites of a matrix.
type Deployment interface {
	// unavailable says why the deployment cannot have such a cell; "" if it can.
	unavailable(s Strategy, f Failure) string
	// without returns the faults of a failure that the deployment cannot have.
	without(f Failure) []FaultKind
	open(s Settings) (site, error)
	describe() string
}

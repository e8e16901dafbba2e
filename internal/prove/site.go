package prove

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// site is the deployment of one cell.
type site interface {
	// target returns the URI and the dialer for clients. The cell sets the other fields.
	target() Target
	// intercept adds middleware to every update command, until the returned function is called.
	intercept(m mongotest.Middleware) (remove func())
	// strike injects a fault of the cluster. repair, which may be nil, repairs it.
	strike(kind FaultKind) (repair func(), err error)
	// awaitPrimary waits until there is a primary with a majority.
	awaitPrimary(ctx context.Context) error
	// blackout makes all servers unreachable.
	blackout()
	// restore heals the cluster and waits until no command runs.
	restore(ctx context.Context) error
	// journal returns the servers' journal. It reports false if there is none.
	journal() ([]mongotest.Entry, bool)
	// delay returns the longest time that the network, and the machine without a stall, add to a number of attempts.
	delay(attempts int) time.Duration
	close() error
}

// roundTrips is the number of round trips of an attempt on a new connection: connecting, its handshake, the command.
const roundTrips = 3

// Deployment makes the sites of a matrix.
type Deployment interface {
	// unavailable returns the reason why the cell cannot run on this deployment, or "".
	unavailable(s Strategy, f Failure) string
	// without returns the faults of a failure that cannot be injected in this deployment.
	without(f Failure) []FaultKind
	open(s Settings) (site, error)
	describe() string
}

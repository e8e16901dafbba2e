package prove

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// members is the number of members of an embedded replica set.
const members = 3

// Embedded makes replica sets inside this process, one for each cell.
type Embedded struct {
	memory bool
	more   []mongotest.Option // for tests
}

var _ Deployment = (*Embedded)(nil)

// TCP makes replica sets on real sockets.
func TCP() *Embedded { return &Embedded{} }

// Memory makes replica sets without sockets, which can run in a testing/synctest bubble.
func Memory() *Embedded { return &Embedded{memory: true} }

// Backend returns MongoDB.
func (e *Embedded) Backend() *Backend { return MongoDB }

func (e *Embedded) unavailable(Strategy, Failure) string { return "" }
func (e *Embedded) without(Failure) []FaultKind          { return nil }

func (e *Embedded) describe() string {
	if e.memory {
		return fmt.Sprintf("embedded replica sets of %d members, in memory", members)
	}
	return fmt.Sprintf("embedded replica sets of %d members, on TCP", members)
}

func (e *Embedded) open(c *cell) (site, error) {
	rs, err := e.run(c.settings)
	if err != nil {
		return nil, err
	}
	return newMongoSite(rs, c), nil
}

func (e *Embedded) run(s Settings) (*replicaSet, error) {
	opts := []mongotest.Option{
		mongotest.ElectionTimeout(s.Timing.Election), mongotest.Seed(int64(s.Seed)),
		mongotest.ReplicationDelay(s.ReplicationDelay), mongotest.JournalKey(journalKey),
		mongotest.JournalLimit(10 * s.Size.MaxOperations),
	}
	if e.memory {
		opts = append(opts, mongotest.InMemory(), mongotest.Latency(s.Latency/10, s.Latency))
	}
	rs, err := mongotest.RunReplicaSet(members, append(opts, e.more...)...)
	if err != nil {
		return nil, fmt.Errorf("starting a replica set: %w", err)
	}
	return &replicaSet{Deployment: rs, settings: s, memory: e.memory}, nil
}

// replicaSet are the servers of an embedded replica set.
type replicaSet struct {
	*mongotest.Deployment
	settings Settings
	memory   bool
}

func (r *replicaSet) target() Target { return Target{URI: r.URI(), Dialer: r.Dialer()} }

func (r *replicaSet) intercept(m mongotest.Middleware) func() { return r.Use("update", m) }

func (r *replicaSet) strike(kind FaultKind) (repair func(), err error) {
	p := r.Primary()
	if p < 0 {
		return nil, fmt.Errorf("%s: there is no primary", kind)
	}
	switch kind { //nolint:exhaustive // these are the faults of the cluster
	case SteppedDown:
		return nil, r.StepDown()
	case PrimaryKilled:
		r.Kill(p)
		return func() { r.Restart(p) }, nil
	case Partitioned:
		r.Isolate(p)
		return r.Heal, nil
	}
	return nil, fmt.Errorf("%s is not a fault of the cluster", kind)
}

func (r *replicaSet) awaitPrimary(ctx context.Context) error {
	if _, err := r.WaitPrimary(ctx); err != nil {
		return fmt.Errorf("waiting for a primary: %w", err)
	}
	return nil
}

func (r *replicaSet) blackout() {
	for i := range r.Members() {
		r.Kill(i)
	}
}

func (r *replicaSet) restore(ctx context.Context) error {
	r.Heal()
	for i := range r.Members() {
		r.Restart(i)
	}
	if err := r.awaitPrimary(ctx); err != nil {
		return err
	}
	if err := r.WaitIdle(ctx); err != nil {
		return fmt.Errorf("waiting until no command runs: %w", err)
	}
	return nil
}

func (r *replicaSet) journal() ([]mongotest.Entry, bool) { return r.Journal(), true }
func (r *replicaSet) close() error                       { return r.Close() }

// delay is exact in memory. On TCP the machine adds to it.
func (r *replicaSet) delay(attempts int) time.Duration {
	if r.memory {
		return time.Duration(attempts*roundTrips) * 2 * r.settings.Latency
	}
	return r.settings.Timing.leastWaste()
}

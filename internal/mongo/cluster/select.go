package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// ErrSelectionTimeout is matched by the error of a selection that found no suitable server in time.
var ErrSelectionTimeout = errors.New("server selection timeout")

// SelectionError is a selection that ended without a server. No attempt was made.
type SelectionError struct {
	Explanation string // what was wanted and what there was
	Err         error  // ErrSelectionTimeout, the context's error, or why the topology cannot be used
}

// Error says what was wanted and what there was.
func (e *SelectionError) Error() string {
	return fmt.Sprintf("server selection error: %v: %s", e.Err, e.Explanation)
}

// Unwrap returns what ended the selection.
func (e *SelectionError) Unwrap() error { return e.Err }

// Target is a selected server and its description at that moment.
type Target struct {
	Server      *Server
	Description *topology.Server
	Topology    *topology.Description
}

const selectionRoom = 8 // suitable servers that are listed without an allocation

// Select returns a suitable server: at random of the two least busy of two picked ones in the latency window. It waits
// for one up to the server selection timeout or the end of ctx, whichever is first, asking the monitors to hurry.
func (c *Cluster) Select(ctx context.Context, want *topology.Selection) (Target, error) {
	s := c.snapshot.Load()
	t, err := s.pick(want)
	if err != nil || t.Server != nil {
		return t, err
	}
	return c.selectSlowly(ctx, want)
}

func (c *Cluster) selectSlowly(ctx context.Context, want *topology.Selection) (Target, error) {
	timer := time.NewTimer(c.cfg.ServerSelectionTimeout)
	defer timer.Stop()
	for {
		s := c.snapshot.Load()
		t, err := s.pick(want)
		if err != nil || t.Server != nil {
			return t, err
		}
		c.RequestChecks()
		select {
		case <-s.changed:
		case <-timer.C:
			// A process that stood still may find a server that came meanwhile.
			if t, err := c.snapshot.Load().pick(want); err != nil || t.Server != nil {
				return t, err
			}
			return Target{}, c.noServer(want, ErrSelectionTimeout)
		case <-ctx.Done():
			return Target{}, c.noServer(want, context.Cause(ctx))
		case <-c.life.Done():
			return Target{}, c.noServer(want, ErrPoolClosed)
		}
	}
}

// RequestChecks asks every monitor to check its server as soon as it may.
func (c *Cluster) RequestChecks() {
	for _, s := range c.snapshot.Load().servers {
		s.requestCheck()
	}
}

// WaitForChange waits until the topology is not the one of s any more, at most for d.
func (s *Snapshot) WaitForChange(ctx context.Context, d time.Duration) {
	sleep(ctx, d, s.changed)
}

func (c *Cluster) noServer(want *topology.Selection, err error) error {
	return &SelectionError{Explanation: topology.Explain(c.snapshot.Load().Description, want), Err: err}
}

func (s *Snapshot) pick(want *topology.Selection) (Target, error) {
	if err := s.Description.CompatibilityError; err != nil {
		return Target{}, &SelectionError{Explanation: "no server can be used", Err: err}
	}
	var room [selectionRoom]*topology.Server
	suitable, err := topology.Select(s.Description, want, room[:0])
	if err != nil {
		return Target{}, &SelectionError{Explanation: "the read preference cannot be met", Err: err}
	}
	if len(suitable) == 0 {
		return Target{}, nil
	}
	d := suitable[0]
	server := s.Server(d)
	if len(suitable) > 1 {
		d, server = s.lessBusy(suitable)
	}
	return Target{Server: server, Description: d, Topology: s.Description}, nil
}

// lessBusy is "power of two random choices".
func (s *Snapshot) lessBusy(suitable []*topology.Server) (*topology.Server, *Server) {
	i := rand.IntN(len(suitable))
	j := rand.IntN(len(suitable) - 1)
	if j >= i {
		j++
	}
	a, b := s.Server(suitable[i]), s.Server(suitable[j])
	if b.inFlight.Load() < a.inFlight.Load() {
		return suitable[j], b
	}
	return suitable[i], a
}

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/telemetry"
)

// ErrSelectionTimeout matches the error of a server selection that reached the server selection timeout. It matches
// context.DeadlineExceeded too.
var ErrSelectionTimeout error = selectionTimeout{}

type selectionTimeout struct{}

func (selectionTimeout) Error() string { return "server selection timeout" }
func (selectionTimeout) Unwrap() error { return context.DeadlineExceeded }

// SelectionError is the error of a server selection that found no server. Nothing was sent.
type SelectionError struct {
	Explanation string // the server that was wanted, and the description of each known server
	Err         error  // ErrSelectionTimeout, the context's cause, ErrPoolClosed, or why no server of the topology can be used
	Topology    *topology.Description
}

// Error returns the cause, the server that was wanted and the description of each known server.
func (e *SelectionError) Error() string {
	return fmt.Sprintf("server selection error: %v: %s", e.Err, e.Explanation)
}

// Unwrap returns the cause.
func (e *SelectionError) Unwrap() error { return e.Err }

// As finds the official driver's ServerSelectionError. That wraps context.DeadlineExceeded itself after the timeout.
func (e *SelectionError) As(target any) bool {
	cause := e.Err
	if cause == ErrSelectionTimeout { //nolint:errorlint // it is never wrapped here
		cause = context.DeadlineExceeded
	}
	return drivererror.AsSelection(target, e.Topology, cause)
}

// Target is a selected server, with its description and the topology description at the time of the selection.
type Target struct {
	Server      *Server
	Description *topology.Server
	Topology    *topology.Description
}

const selectionRoom = 8 // the number of suitable servers that need no allocation

// Select returns a suitable server in the latency window. Of two servers picked at random it returns the one with
// fewer operations in flight (Server Selection, "Choosing between servers"). While there is none, it requests checks
// from the monitors and waits until the server selection timeout or the end of ctx.
func (c *Cluster) Select(ctx context.Context, want *topology.Selection) (Target, error) {
	return c.SelectFor(ctx, want, Purpose{}, nil)
}

// Purpose is the operation for which a server is selected, as tracers and the log have it.
type Purpose struct {
	Traced    *telemetry.Operation // nil: the tracer was told of none
	Operation string               // the command's name
	ID        int64
	// Waited is set when a selection waits: the log has that once for an operation. If it is nil, the log has it for each selection.
	Waited *bool
	// Waits, if it is not nil, is called when a selection waits. Its error ends the selection.
	Waits func() error
}

// SelectFor is [Cluster.Select] with an operation for tracers and the log. Until the check other has ended, if it is not nil, it
// returns no deprioritized server: it waits for another one.
func (c *Cluster) SelectFor(ctx context.Context, want *topology.Selection, p Purpose, other *PendingCheck) (Target, error) {
	if c.TracesSelections() {
		return c.tracedSelect(ctx, want, p, other)
	}
	return c.selectServer(ctx, want, other, p.Waits)
}

// selectServer calls waits, if it is not nil, once if there is no suitable server yet. Its error ends the selection.
func (c *Cluster) selectServer(
	ctx context.Context, want *topology.Selection, other *PendingCheck, waits func() error,
) (Target, error) {
	if t, err := c.snapshot.Load().selectNow(want, other); err != nil || t.Server != nil {
		return t, err
	}
	if waits != nil {
		if err := waits(); err != nil {
			return Target{}, c.noServer(want, err)
		}
	}
	return c.waitAndSelect(ctx, want, other)
}

func (c *Cluster) waitAndSelect(ctx context.Context, want *topology.Selection, other *PendingCheck) (Target, error) {
	timer, probes := time.NewTimer(c.cfg.ServerSelectionTimeout), time.NewTicker(probeInterval)
	defer timer.Stop()
	defer probes.Stop()
	other.hurry()
	for {
		s := c.snapshot.Load()
		if t, err := s.selectNow(want, other); err != nil || t.Server != nil {
			return t, err
		}
		c.RequestChecks()
		c.probe(s)
		select {
		case <-s.changed:
		case <-probes.C:
		case <-other.ended():
			other = nil
		case <-timer.C:
			// If the process was suspended, a server may have become suitable in the meantime.
			if t, err := c.snapshot.Load().Select(want); err != nil || t.Server != nil {
				return t, err
			}
			return Target{}, c.noServer(want, ErrSelectionTimeout)
		case <-ctx.Done():
			return Target{}, c.noServer(want, context.Cause(ctx))
		case <-c.selectionCtx.Done():
			return Target{}, c.noServer(want, ErrPoolClosed)
		}
	}
}

// RequestChecks asks every monitor for a check as soon as MinHeartbeatInterval allows.
func (c *Cluster) RequestChecks() {
	for _, s := range c.snapshot.Load().servers {
		s.requestCheck()
	}
}

// WaitForChange waits until there is a newer snapshot than s, for at most d, or until ctx ends. It returns an error if selections that
// wait must end, because the client is disconnected.
func (c *Cluster) WaitForChange(ctx context.Context, s *Snapshot, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.changed:
	case <-ctx.Done():
	case <-c.selectionCtx.Done():
		return &SelectionError{Explanation: "it waited for a change of the topology", Err: ErrPoolClosed, Topology: s.Description}
	}
	return nil
}

// streamEnds is how long after its server's death a stream ends: all its connections are reset at the same time.
const streamEnds = 50 * time.Millisecond

// Wait waits until the check has ended, but not longer than one that begins and ends in time needs, and not after ctx ends.
func (p *PendingCheck) Wait(ctx context.Context) {
	p.hurry()
	sleep(ctx, p.limit, p.done)
}

// hurry requests the check, if it has not begun, as soon as probeInterval allows, because an operation needs its result.
func (p *PendingCheck) hurry() {
	if p != nil && p.server != nil && p.server.next.Load().done == p.done {
		request(p.server.doubted)
	}
}

// ended returns a channel that is closed when the check has ended. It is nil for a nil check.
func (p *PendingCheck) ended() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.done
}

func (c *Cluster) noServer(want *topology.Selection, err error) error {
	d := c.snapshot.Load().Description
	return &SelectionError{Explanation: topology.Explain(d, want), Err: err, Topology: d}
}

// selectNow is Select, but returns no deprioritized server while there is the check other.
func (s *Snapshot) selectNow(want *topology.Selection, other *PendingCheck) (Target, error) {
	t, err := s.Select(want)
	if other != nil && t.Server != nil && slices.Contains(want.Deprioritized, t.Server.address) {
		return Target{}, err
	}
	return t, err
}

// Select returns a suitable server of the snapshot without waiting. The Target is empty if there is none.
func (s *Snapshot) Select(want *topology.Selection) (Target, error) {
	if err := s.Description.CompatibilityError; err != nil {
		return Target{}, &SelectionError{Explanation: "no server can be used", Err: err, Topology: s.Description}
	}
	var room [selectionRoom]*topology.Server
	suitable, err := s.mongoses.Select(s.Description, want, room[:0])
	if err != nil {
		return Target{}, &SelectionError{Explanation: "the read preference cannot be met", Err: err, Topology: s.Description}
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

// lessBusy picks two servers at random and returns the one with fewer operations in flight.
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

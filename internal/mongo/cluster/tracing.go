package cluster

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/telemetry"
)

// trace joins all that are told of selections and of pools: the application's tracer, the log, the listener of pools.
func (c *Cluster) trace() {
	cfg := &c.cfg
	if c.tracer = telemetry.Join(cfg.Tracer, selectionLogged(cfg.Log), poolLogged(cfg), poolMonitored(cfg.PoolMonitor)); c.tracer != nil {
		c.pooled, c.passive = c.tracer.Pool, c.tracer.Passive
	}
}

// TracesSelections reports whether anybody is told of selections.
func (c *Cluster) TracesSelections() bool {
	t := c.tracer
	return t != nil && (t.SelectionBegan != nil || t.SelectionWaits != nil || t.SelectionEnded != nil)
}

// tracedSelection is a selection that is told of.
type tracedSelection struct {
	cluster *Cluster
	ctx     context.Context //nolint:containedctx // the one that the tracer made
	told    telemetry.Selection
	waited  *bool
}

// tracedSelect is selectServer, and tells of it.
func (c *Cluster) tracedSelect(ctx context.Context, want *topology.Selection, p Purpose, other *PendingCheck) (t Target, err error) {
	s := &tracedSelection{cluster: c, ctx: ctx, waited: p.Waited, told: telemetry.Selection{
		Operation: p.Traced, Name: p.Operation, OperationID: p.ID, Began: time.Now(), WaitedBefore: p.Waited != nil && *p.Waited,
		Selector: want.String, Topology: func() string { return c.snapshot.Load().Description.String() },
	}}
	s.began()
	defer func() { s.ended(t, err) }()
	return c.selectServer(ctx, want, other, func() error {
		s.waits()
		if p.Waits == nil {
			return nil
		}
		return p.Waits()
	})
}

func (s *tracedSelection) began() {
	began := s.cluster.tracer.SelectionBegan
	if began == nil {
		return
	}
	defer s.cluster.listeners.begin().Add(-1)
	if made := began(s.ctx, &s.told); made != nil {
		s.ctx = made
	}
}

// waits tells that there is no suitable server yet.
func (s *tracedSelection) waits() {
	if s.waited != nil {
		*s.waited = true
	}
	waits := s.cluster.tracer.SelectionWaits
	if waits == nil {
		return
	}
	atMost := s.cluster.cfg.ServerSelectionTimeout - time.Since(s.told.Began)
	if deadline, ok := s.ctx.Deadline(); ok {
		atMost = min(atMost, time.Until(deadline))
	}
	defer s.cluster.listeners.begin().Add(-1)
	waits(s.ctx, &s.told, atMost)
}

func (s *tracedSelection) ended(t Target, err error) {
	ended := s.cluster.tracer.SelectionEnded
	if ended == nil {
		return
	}
	r := &telemetry.Selected{Took: time.Since(s.told.Began), Err: err}
	if err == nil && t.Server != nil {
		r.Address = t.Server.address
	}
	defer s.cluster.listeners.begin().Add(-1)
	ended(s.ctx, &s.told, r)
}

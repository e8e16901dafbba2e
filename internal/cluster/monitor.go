package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/topology"
)

// monitor checks one server until ctx ends: by a hello at every heartbeat, and sooner when asked, but never more often
// than MinHeartbeatInterval. It polls (the specification's serverMonitoringMode "poll").
type monitor struct {
	server *Server
	conn   *Conn
	last   *topology.Server
}

func (m *monitor) run(ctx context.Context) {
	defer m.drop()
	for ctx.Err() == nil {
		m.checkAndApply(ctx)
		if !m.rest(ctx) {
			return
		}
	}
}

// rest waits for the next check and tells whether there is one.
func (m *monitor) rest(ctx context.Context) bool {
	if !sleep(ctx, MinHeartbeatInterval, nil) {
		return false
	}
	return sleep(ctx, m.server.cluster.cfg.HeartbeatInterval-MinHeartbeatInterval, m.server.check)
}

// sleep waits for d or for early, and tells whether ctx goes on.
func sleep(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-early:
	case <-ctx.Done():
		return false
	}
	return true
}

func (m *monitor) checkAndApply(ctx context.Context) {
	description, err := m.check(ctx)
	if err != nil && ctx.Err() == nil && m.failed(err) {
		// The connection may only have been old: a server that was known gets a second look at once.
		if description, err = m.check(ctx); err != nil && ctx.Err() == nil {
			m.failed(err)
		}
	}
	if err == nil && ctx.Err() == nil {
		m.last = description
		m.server.cluster.monitored(m.server, description)
	}
}

// failed reports a failed check and returns whether another one is due at once.
func (m *monitor) failed(err error) bool {
	m.last = nil
	return m.server.cluster.checkFailed(m.server, err)
}

func isTimeout(err error) bool {
	var handshake *HandshakeError
	var io *IOError
	return errors.As(err, &handshake) && handshake.Timeout || errors.As(err, &io) && io.Timeout() ||
		errors.Is(err, context.DeadlineExceeded)
}

// check asks the server who it is, on a connection of the monitor's own.
func (m *monitor) check(ctx context.Context) (*topology.Server, error) {
	if m.conn == nil {
		c, rtt, err := m.server.connect(ctx, 0)
		if err != nil {
			return nil, err
		}
		m.conn = c
		return m.measured(c.Description, rtt), nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.server.cluster.cfg.ConnectTimeout)
	defer cancel()
	start := time.Now()
	description, err := m.conn.again(ctx, m.server.address)
	if err != nil {
		m.drop()
		return nil, err
	}
	return m.measured(description, time.Since(start)), nil
}

func (m *monitor) measured(s *topology.Server, sample time.Duration) *topology.Server {
	next := *s
	next.RTT, next.HasRTT = topology.NextRTT(m.last, sample), true
	return &next
}

func (m *monitor) drop() {
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// monitor checks one server until ctx ends: by a hello at every heartbeat, and sooner when asked, but never more often
// than MinHeartbeatInterval. It polls (the specification's serverMonitoringMode "poll").
type monitor struct {
	server *Server
	conn   *Conn
}

func (m *monitor) run(ctx context.Context) {
	defer m.drop()
	for ctx.Err() == nil {
		m.forgetRequest()
		m.checkAndApply(ctx)
		if !m.wait(ctx) {
			return
		}
	}
}

// forgetRequest takes back what the check that begins now will answer.
func (m *monitor) forgetRequest() {
	select {
	case <-m.server.check:
	default:
	}
}

// wait waits for the next check and reports whether there is one.
func (m *monitor) wait(ctx context.Context) bool {
	if !sleep(ctx, MinHeartbeatInterval, nil) {
		return false
	}
	return sleep(ctx, m.server.cluster.cfg.HeartbeatInterval-MinHeartbeatInterval, m.server.check)
}

// sleep waits for d or for early, and reports whether ctx goes on.
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

// checkAndApply makes one check, or two: the connection may only have been old, so a server that was known gets a second
// look at once. A check that was cancelled tells nothing.
func (m *monitor) checkAndApply(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.server.checking.Store(&cancel)
	defer m.server.checking.Store(nil)
	for range 2 {
		description, err := m.check(ctx)
		switch {
		case ctx.Err() != nil:
			m.drop()
			return
		case err == nil:
			m.server.cluster.checkSucceeded(m.server, description)
			return
		case !m.server.cluster.checkFailed(m.server, err):
			return
		}
	}
}

func isTimeout(err error) bool {
	var handshake *HandshakeError
	var io *IOError
	return errors.As(err, &handshake) && handshake.Timeout || errors.As(err, &io) && io.Timeout()
}

// check asks the server who it is, on a connection of the monitor's own.
func (m *monitor) check(ctx context.Context) (*topology.Server, error) {
	if m.conn != nil && m.conn.Description.MaxWireVersion < topology.MinWireVersion {
		m.drop() // it knows no OP_MSG, and the old handshake is for new connections only
	}
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
	description, err := m.conn.askAgain(ctx, m.server.address, &m.server.cluster.cfg.Handshake)
	if err != nil || m.conn.broken {
		m.drop()
	}
	if err != nil {
		return nil, err
	}
	return m.measured(description, time.Since(start)), nil
}

// measured adds the round trip time, averaged with what is known of the server.
func (m *monitor) measured(s *topology.Server, sample time.Duration) *topology.Server {
	next := *s
	known := m.server.cluster.Snapshot().Description.Server(s.Address)
	next.RTT, next.HasRTT = topology.NextRTT(known, sample), true
	return &next
}

func (m *monitor) drop() {
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

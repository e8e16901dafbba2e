package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// monitor checks one server until ctx ends: at every heartbeat, and earlier on request, but at most once in each
// MinHeartbeatInterval. It polls (Server Monitoring's serverMonitoringMode "poll").
type monitor struct {
	server *Server
	conn   *Conn
	rtts   recentRTTs
}

func (m *monitor) run(ctx context.Context) {
	defer m.drop()
	defer m.endWaits()
	for ctx.Err() == nil {
		m.forgetRequest()
		check := m.server.beginCheck()
		m.checkAndApply(ctx)
		close(check.done)
		if !m.wait(ctx) {
			return
		}
	}
}

// endWaits ends the waits for a check that will not begin, because the monitor stops.
func (m *monitor) endWaits() { close(m.server.next.Load().done) }

// forgetRequest drops a pending request for a check, because a check begins now.
func (m *monitor) forgetRequest() {
	select {
	case <-m.server.check:
	default:
	}
}

// wait waits for the time of the next check. It returns false if ctx has ended.
func (m *monitor) wait(ctx context.Context) bool {
	if !sleep(ctx, MinHeartbeatInterval, nil) {
		return false
	}
	return sleep(ctx, m.server.cluster.cfg.HeartbeatInterval-MinHeartbeatInterval, m.server.check)
}

// sleep waits for d, or until early is ready. It returns false if ctx ended first.
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

// checkAndApply checks the server and applies the result. After a network error a known server is checked a second
// time immediately, because perhaps only the connection was lost. The result of a cancelled check is ignored.
func (m *monitor) checkAndApply(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.server.checking.Store(&cancel)
	defer m.server.checking.Store(nil)
	if m.checkOnce(ctx) {
		m.checkOnce(ctx)
	}
}

// checkOnce reports whether the server must be checked again immediately.
func (m *monitor) checkOnce(ctx context.Context) bool {
	description, err := m.check(ctx)
	switch {
	case ctx.Err() != nil:
		m.drop()
		return false
	case err != nil:
		return m.server.cluster.checkFailed(m.server, err)
	default:
		m.server.cluster.checkSucceeded(m.server, description)
		return false
	}
}

func isTimeout(err error) bool {
	var handshake *HandshakeError
	var io *IOError
	return errors.As(err, &handshake) && handshake.Timeout || errors.As(err, &io) && io.Timeout()
}

// check sends hello on the monitor's own connection.
func (m *monitor) check(ctx context.Context) (*topology.Server, error) {
	if m.conn != nil && m.conn.Description.MaxWireVersion < topology.MinWireVersion {
		m.drop() // the server has no OP_MSG, and OP_QUERY is for the first hello only
	}
	if m.conn == nil {
		c, err := m.server.connect(ctx, 0)
		if err != nil {
			return nil, err
		}
		m.conn = c
		return m.measured(c.Description, c.firstRTT), nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.server.cluster.cfg.ConnectTimeout)
	defer cancel()
	start := time.Now()
	description, err := m.conn.sendHello(ctx, m.server.address, &m.server.cluster.cfg.Handshake)
	if err != nil {
		m.drop()
		return nil, err
	}
	return m.measured(description, time.Since(start)), nil
}

// measured returns s with the average and the minimum of the round trip times after this sample. Both start again after
// the server was Unknown.
func (m *monitor) measured(s *topology.Server, sample time.Duration) *topology.Server {
	next := *s
	known := m.server.cluster.Snapshot().Description.Server(s.Address)
	if known == nil || !known.HasRTT {
		m.rtts = recentRTTs{}
	}
	m.rtts.add(sample)
	next.RTT, next.HasRTT, next.MinRTT = topology.NextRTT(known, sample), true, m.rtts.min()
	return &next
}

func (m *monitor) drop() {
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

package cluster

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// monitor checks one server until ctx ends: at every heartbeat, and earlier on request, but at most once in each
// MinHeartbeatInterval. After an operation has lost its connection, a request is answered at once, but at most once in each
// probeInterval. If the server can stream its hellos and Config.Streaming is set, each check waits for the next
// hello of the stream instead (Server Monitoring, "Streaming Protocol").
type monitor struct {
	server      *Server
	conn        *Conn
	connections int64                     // how many it has had; the number of conn in events
	version     *topology.TopologyVersion // from the last hello on conn; nil if the server cannot stream
	answered    time.Time                 // when the server answered last
	cancelled   context.Context           //nolint:containedctx // ended by the server's cancelCheck; it lives as long as conn
	stopRTT     context.CancelFunc        // stops the rttMonitor; nil if there is none
}

// pause says how long the monitor waits for its next check.
type pause uint8

const (
	untilHeartbeat pause = iota // MinHeartbeatInterval, then until a request or the heartbeat
	untilRequested              // until a request or the heartbeat, then as untilProbe
	untilProbe                  // as untilAllowed, but not longer than until probeInterval has passed since the last probe
	untilAllowed                // until MinHeartbeatInterval has passed since the last answer
	noPause
)

// errRestart is why a check of a stream is cancelled that must begin again soon: the server is Unknown, and the stream
// tells nothing as long as the server does not change.
var errRestart = errors.New("the server must be checked anew")

// errSuspect is why a check of a stream is cancelled of whose server an operation got no answer.
var errSuspect = errors.New("the server did not answer an operation")

func (m *monitor) run(ctx context.Context) {
	defer m.stop()
	for ctx.Err() == nil {
		m.forgetRequest()
		check := m.server.beginCheck()
		next := m.checkAndApply(ctx)
		close(check.done)
		if !m.wait(ctx, next) {
			return
		}
	}
}

// stop closes the connections and ends the waits for a check that will not begin.
func (m *monitor) stop() {
	m.stopMeasuring()
	m.drop()
	close(m.server.next.Load().done)
}

// forgetRequest drops the pending requests for a check, because a check begins now.
func (m *monitor) forgetRequest() {
	for _, c := range []chan struct{}{m.server.check, m.server.doubted} {
		select {
		case <-c:
		default:
		}
	}
}

// wait waits for the time of the next check. It returns false if ctx has ended.
func (m *monitor) wait(ctx context.Context, p pause) bool {
	heartbeat := time.Now().Add(m.server.cluster.cfg.HeartbeatInterval)
	if p == untilHeartbeat {
		p = m.awaitHeartbeat()
	}
	if p == untilRequested {
		p = untilProbe
		if !sleep(ctx, time.Until(heartbeat), m.server.check) {
			return false
		}
		m.server.early.Store(time.Now().UnixNano())
	}
	for ctx.Err() == nil {
		left := m.left(p)
		if left <= 0 {
			return true
		}
		sleep(ctx, left, nil)
	}
	return false
}

// awaitHeartbeat waits for MinHeartbeatInterval, then for a request or the heartbeat. If the monitor is told meanwhile that the server
// or its own connection is in doubt, awaitHeartbeat returns at once, with the rest of the pause.
func (m *monitor) awaitHeartbeat() pause {
	timer := time.NewTimer(MinHeartbeatInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		timer.Reset(m.server.cluster.cfg.HeartbeatInterval - MinHeartbeatInterval)
	case <-m.server.doubted:
		// An application that repeats its operations itself must not meet a dead server until the interval has passed.
		if m.server.doubts.begin(MinHeartbeatInterval) == 0 {
			return noPause
		}
		return untilProbe
	case <-m.cancelled.Done():
		return m.afterCancel()
	}
	select {
	case <-timer.C:
	case <-m.server.check:
	case <-m.cancelled.Done():
		return m.afterCancel()
	}
	return noPause
}

// left returns the rest of the pauses untilProbe and untilAllowed.
func (m *monitor) left(p pause) time.Duration {
	allowed := MinHeartbeatInterval - time.Since(m.answered)
	switch {
	case p == noPause || allowed <= 0:
		return 0
	case p == untilProbe:
		return min(allowed, m.server.probes.begin(probeInterval))
	}
	return allowed
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
func (m *monitor) checkAndApply(ctx context.Context) pause {
	next, again := m.checkOnce(ctx)
	if again {
		next, _ = m.checkOnce(ctx)
	}
	return next
}

// checkOnce makes one check. It also reports whether the server must be checked again immediately.
//
//nolint:contextcheck,nolintlint // the context of the connection comes from parent
func (m *monitor) checkOnce(parent context.Context) (next pause, again bool) {
	if m.cancelled == nil || m.cancelled.Err() != nil {
		m.drop()
		m.cancelled = m.server.cancellable(parent)
	}
	h := m.beginHeartbeat()
	ctx, before, began := m.cancelled, m.version, time.Now()
	description, took, err := m.check(ctx)
	if err != nil {
		h.failed(time.Since(began), err)
	} else {
		h.succeeded(took, description, m.conn.hello)
	}
	switch {
	case ctx.Err() != nil:
		m.drop()
		return m.afterCancel(), false
	case err != nil:
		m.drop()
		return untilHeartbeat, m.server.cluster.checkFailed(m.server, err)
	}
	m.conn.rest()
	m.answered = time.Now()
	m.version = nil
	if m.server.cluster.cfg.Streaming && description.Known() {
		m.version = description.TopologyVersion
	}
	m.measureWhileStreaming(parent)
	m.server.cluster.checkSucceeded(m.server, description)
	if m.conn.Continues() || m.version != nil && m.waited(before, began) {
		return noPause, false
	}
	return untilHeartbeat, false
}

// afterCancel returns the pause after the connection of the checks was given up. If an operation has lost its connection, the server is
// Unknown, and a selection that needs it requests a check. Nobody does for a server that is known again: its next check begins as
// soon as it is allowed.
func (m *monitor) afterCancel() pause {
	d := m.server.cluster.Snapshot().Description.Server(m.server.address)
	switch cause := context.Cause(m.cancelled); {
	case errors.Is(cause, errSuspect):
		return untilProbe
	case errors.Is(cause, errRestart) || d != nil && d.Known():
		return untilAllowed
	}
	return untilRequested
}

// waited reports whether the next check may begin at once: the reply brought a change, or the server has waited for one.
// A server that answers an awaitable hello at once, without a change, is polled.
func (m *monitor) waited(before *topology.TopologyVersion, began time.Time) bool {
	return before == nil || *before != *m.version || m.answered.Sub(began) >= m.server.cluster.cfg.HeartbeatInterval/2
}

func isTimeout(err error) bool {
	var handshake *HandshakeError
	var io *IOError
	return errors.As(err, &handshake) && handshake.Timeout || errors.As(err, &io) && io.Timeout()
}

// check gets a hello on the monitor's own connection. A new connection's is that of its handshake. It returns how long the
// hello took too; without a stream that is the sample of the round trip time.
func (m *monitor) check(ctx context.Context) (d *topology.Server, took time.Duration, err error) {
	defer panicked.Recovered("the connection", &err)
	if m.conn == nil {
		return m.connect(ctx)
	}
	cfg := &m.server.cluster.cfg
	if m.awaits() {
		return m.await(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	start := time.Now()
	description, err := m.conn.sendHello(ctx, m.server.address, &cfg.Handshake)
	if err != nil {
		return nil, 0, err
	}
	took = time.Since(start)
	return m.measured(description, took), took, nil
}

func (m *monitor) connect(ctx context.Context) (*topology.Server, time.Duration, error) {
	m.connections++
	c, err := m.server.connect(ctx, 0, opening{}) // not one of the pool
	if err != nil {
		return nil, 0, err
	}
	m.conn = c
	return m.measured(c.Description, c.firstRTT), c.firstRTT, nil
}

// awaits reports whether the next check waits for a hello of a stream.
func (m *monitor) awaits() bool { return m.conn != nil && (m.conn.Continues() || m.version != nil) }

// await returns the next hello of the stream, or begins one. Its time says nothing about the round trip time.
func (m *monitor) await(ctx context.Context) (*topology.Server, time.Duration, error) {
	cfg := &m.server.cluster.cfg
	limit := cfg.ConnectTimeout + min(cfg.HeartbeatInterval, math.MaxInt64-cfg.ConnectTimeout) // the sum does not overflow
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	var description *topology.Server
	var err error
	if m.conn.Continues() {
		description, err = m.conn.nextHello(ctx, m.server.address)
	} else {
		description, err = m.conn.awaitHello(ctx, m.server.address, &cfg.Handshake, m.version, cfg.HeartbeatInterval)
	}
	if err != nil {
		return nil, 0, err
	}
	return m.server.rtts.describe(description), time.Since(start), nil
}

// measured returns s with the average and the minimum of the round trip times after this sample. Both start again after
// the server was Unknown.
func (m *monitor) measured(s *topology.Server, sample time.Duration) *topology.Server {
	known := m.server.cluster.Snapshot().Description.Server(s.Address)
	if known == nil || !known.HasRTT {
		m.server.rtts.reset()
	}
	m.server.rtts.add(sample)
	return m.server.rtts.describe(s)
}

// measureWhileStreaming starts the measuring of round trip times when a stream begins, and stops it when there is none.
func (m *monitor) measureWhileStreaming(ctx context.Context) {
	switch {
	case m.version == nil:
		m.stopMeasuring()
	case m.stopRTT == nil:
		m.stopRTT = m.server.startRTT(ctx)
		m.server.streaming.Store(true)
	}
}

func (m *monitor) stopMeasuring() {
	if m.stopRTT != nil {
		m.stopRTT()
		m.stopRTT = nil
		m.server.streaming.Store(false)
	}
}

func (m *monitor) drop() {
	m.version = nil
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

package cluster

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// rttMonitor measures the round trip time of a server at every heartbeat, on a connection of its own, while the monitor's
// connection waits for the hellos of a stream (Server Monitoring, "Measuring RTT"). Its errors show nothing: the stream
// finds them too.
type rttMonitor struct {
	server *Server
	conn   *Conn
}

// startRTT starts the measuring of a server's round trip times. The returned function stops it.
func (s *Server) startRTT(ctx context.Context) context.CancelFunc {
	ctx, cancel := context.WithCancel(ctx)
	s.cluster.background.Go(func() { (&rttMonitor{server: s}).run(ctx) })
	return cancel
}

func (m *rttMonitor) run(ctx context.Context) {
	defer m.drop()
	for {
		m.beat(ctx)
		if !sleep(ctx, m.server.cluster.cfg.HeartbeatInterval, nil) {
			return
		}
	}
}

// beat adds a sample. After a failure the next one makes a new connection.
func (m *rttMonitor) beat(ctx context.Context) {
	sample, err := m.measure(ctx)
	if err != nil {
		m.drop()
		return
	}
	m.server.rtts.add(sample)
	m.conn.rest()
}

func (m *rttMonitor) measure(ctx context.Context) (took time.Duration, err error) {
	defer panicked.Recovered("the connection", &err)
	cfg := &m.server.cluster.cfg
	if m.conn == nil {
		c, err := m.server.connect(ctx, 0, opening{})
		if err != nil {
			return 0, err
		}
		m.conn = c
		return c.firstRTT, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	start := time.Now()
	_, err = m.conn.sendHello(ctx, m.server.address, &cfg.Handshake)
	return time.Since(start), err
}

func (m *rttMonitor) drop() {
	if m.conn != nil {
		m.conn.close()
		m.conn = nil
	}
}

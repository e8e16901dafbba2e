package cluster

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/revocation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/telemetry"
)

// MinHeartbeatInterval is the shortest time between two checks of a server: Server Monitoring's
// minHeartbeatFrequencyMS, which cannot be configured.
const MinHeartbeatInterval = 500 * time.Millisecond

// idleProbeAfter is the idle time after which a connection is checked, without blocking, before it is used again.
const idleProbeAfter = time.Second

// Dialer opens connections.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Config is the configuration of a Cluster. A zero duration or size means the default in its comment.
type Config struct {
	Topology topology.Config
	Dialer   Dialer // default: TCP with keepalive and TCP_USER_TIMEOUT
	// Socket returns what reads and writes a connection that the Dialer made; nil: it does so itself.
	Socket   func(net.Conn) net.Conn
	Proxy    *Proxy      // that the Dialer reaches, and the servers behind it; nil: none
	TLS      *tls.Config // nil: without TLS. An empty ServerName means the host of the address.
	Leniency Leniency    // checks of TLS that are left out
	// Revocation checks whether a certificate was revoked, once it is verified; nil: nothing does.
	Revocation *revocation.Checker
	// Auth logs in every connection but those of monitors; nil if there are no credentials.
	Auth *auth.Authenticator
	// AuthArbiters means that connections to arbiters are logged in too.
	AuthArbiters bool
	// Streaming permits that servers stream their hellos to the monitors, if they can (serverMonitoringMode).
	Streaming bool
	// Handshake describes the first hello of every new connection.
	Handshake Handshake
	// Environment is what the client's metadata says about the system; default: that of the process.
	Environment Environment
	ZlibLevel   *int // the level of zlib, see wire.Codec
	ZstdLevel   *int // the level of zstd, see wire.Codec

	// SRV is how the hosts are looked up again. Nil means that they did not come from SRV records.
	SRV *SRVPolling

	ConnectTimeout         time.Duration // 30 s; also the time limit of a monitor's check
	HeartbeatInterval      time.Duration // 10 s
	ServerSelectionTimeout time.Duration // 30 s
	SocketTimeout          time.Duration // of each round trip of the handshake, not of monitors; 0 means no limit but ConnectTimeout
	LocalThreshold         time.Duration // no default here: 0 keeps the nearest servers only

	MaxPoolSize     uint64 // connections per server; 0 means no limit
	MinPoolSize     uint64 // connections per server that are kept open
	MaxConnecting   uint64 // 2
	MaxConnIdleTime time.Duration
	// WaitQueueTimeout limits the time that a checkout waits until a connection is free or one is begun for it. 0 means no
	// limit. It does not count if the context of the checkout has a deadline.
	WaitQueueTimeout time.Duration

	Tracer      *telemetry.Tracer // is told of selections and pools; nil: none
	PoolMonitor *event.PoolMonitor
	// ServerMonitor gets the events of the topology and of the checks, in order, one at a time and without a lock held. It
	// must not call Close, which waits for the monitors: a monitor may be the caller.
	ServerMonitor *event.ServerMonitor
	Log           *logging.Logger // nil: nothing is logged
}

func (c *Config) setDefaults() {
	setDefault(&c.ConnectTimeout, 30*time.Second)
	setDefault(&c.HeartbeatInterval, 10*time.Second)
	setDefault(&c.ServerSelectionTimeout, 30*time.Second)
	setDefault(&c.MaxConnecting, 2)
	if c.Dialer == nil {
		c.Dialer = tcpDialer()
	}
	if c.Proxy != nil {
		c.Dialer = &proxied{c.Proxy, c.Dialer}
	}
	c.Environment.setDefaults()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

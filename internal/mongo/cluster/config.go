package cluster

import (
	"context"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
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
	// Handshake describes the first hello of every new connection.
	Handshake Handshake
	ZlibLevel *int // the level of zlib, see wire.Codec
	ZstdLevel *int // the level of zstd, see wire.Codec

	// SRV is how the hosts are looked up again. Nil means that they did not come from SRV records.
	SRV *SRVPolling

	ConnectTimeout         time.Duration // 30 s; also the time limit of a monitor's check
	HeartbeatInterval      time.Duration // 10 s
	ServerSelectionTimeout time.Duration // 30 s
	LocalThreshold         time.Duration // no default here: 0 keeps the nearest servers only

	MaxPoolSize     uint64 // connections per server; 0 means no limit
	MinPoolSize     uint64 // connections per server that are kept open
	MaxConnecting   uint64 // 2
	MaxConnIdleTime time.Duration

	PoolMonitor *event.PoolMonitor
	// OnChange is called for every change of the topology, in order and without a lock held. old is nil in the first
	// call. It must not call Close, which waits for the monitors: a monitor may be the caller.
	OnChange func(old, next *topology.Description)
}

func (c *Config) setDefaults() {
	setDefault(&c.ConnectTimeout, 30*time.Second)
	setDefault(&c.HeartbeatInterval, 10*time.Second)
	setDefault(&c.ServerSelectionTimeout, 30*time.Second)
	setDefault(&c.MaxConnecting, 2)
	if c.Dialer == nil {
		c.Dialer = tcpDialer()
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

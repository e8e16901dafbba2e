package kv

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Config has the settings of all connections of a cluster. It must not change after the first [Connect]. Every function in it must
// be safe for concurrent use. A panic of OnMap or OnOrphan ends the connection.
type Config struct {
	// Dial makes a connection. Nil means TCP with keepalives. A panic of it, or of its connection, becomes an error.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is nil for plain connections. If its ServerName is empty, the certificate must be valid for the host of the address.
	TLS *tls.Config
	// Agent and ClientID are told to the server in HELLO.
	Agent    string
	ClientID uint64
	// Features are those that are asked for in HELLO. The server may accept only some: see [Conn.Features].
	Features []memd.Feature
	// Login is nil if no login is needed, because a client certificate says who the client is.
	Login *Login
	// Timeout limits the dial and the handshake together. Zero means that only the context of [Connect] does.
	Timeout time.Duration
	// MaxQueue is the number of requests that may wait for their replies on one connection, at most 32,768. Zero means 2,048.
	MaxQueue int
	// A value is sent compressed if the server accepts that, the value has at least CompressMinSize bytes, and the compressed one is
	// smaller than CompressMinRatio times the value. Zero means 32 bytes and 0.83.
	CompressMinSize  int
	CompressMinRatio float64

	// LateBucket, if set, is asked for the bucket when the connection is made and [Connect] was given none. So a bucket that is opened
	// while the connection is being made needs no further round trip. "" means no bucket.
	LateBucket func() string
	// OnMap is called with each map that the server pushes, one at a time for a connection, without locks. body is the map, which the
	// function may keep, or nil if the server told only the version. It must be quick and must not use the connection: nothing else is
	// read until it returns.
	OnMap func(c *Conn, version memd.MapVersion, body []byte)
	// OnClose is called once when a connection has ended, without locks, after all requests on it have failed. It is not called if Connect fails.
	OnClose func(c *Conn, err error)
	// OnOrphan is called without locks with each reply whose caller had left. It must be quick and must not use the connection.
	OnOrphan func(Orphan)
}

// Orphan is a reply whose caller had left.
type Orphan struct {
	Conn           *Conn
	Opcode         memd.Opcode
	Status         memd.Status
	Opaque         uint32
	Started        time.Time     // of the request; zero if it was not given or is not known any more
	ServerDuration time.Duration // zero if the server did not tell it
}

// MostMaxQueue is the largest [Config.MaxQueue].
const MostMaxQueue = 32768

const (
	defaultMaxQueue         = 2048
	defaultCompressMinSize  = 32
	defaultCompressMinRatio = 0.83
)

// check returns an error that names the field and the rule that it breaks.
func (c *Config) check() error {
	switch {
	case c.MaxQueue < 0 || c.MaxQueue > MostMaxQueue:
		return fmt.Errorf("kv: MaxQueue is %d; it must be from 0 to %d", c.MaxQueue, MostMaxQueue)
	case c.Timeout < 0:
		return fmt.Errorf("kv: Timeout is %v; it must not be negative", c.Timeout)
	case c.CompressMinSize < 0:
		return fmt.Errorf("kv: CompressMinSize is %d; it must not be negative", c.CompressMinSize)
	case !(c.CompressMinRatio >= 0 && c.CompressMinRatio <= 1):
		return fmt.Errorf("kv: CompressMinRatio is %v; it must be from 0 to 1", c.CompressMinRatio)
	case c.Login != nil:
		return c.Login.Check(c.TLS != nil)
	}
	return nil
}

func (c *Config) maxQueue() int {
	if c.MaxQueue == 0 {
		return defaultMaxQueue
	}
	return c.MaxQueue
}

// deflate returns the compressed value. It reports false if the value is to be sent as it is.
func (c *Config) deflate(value []byte) ([]byte, bool) {
	size, ratio := c.CompressMinSize, c.CompressMinRatio
	if size == 0 {
		size = defaultCompressMinSize
	}
	if ratio == 0 {
		ratio = defaultCompressMinRatio
	}
	return memd.Deflate(value, size, ratio)
}

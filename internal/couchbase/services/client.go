package services

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
	"github.com/holdfast-db/holdfast/retry"
)

// The defaults of a Config.
const (
	DefaultConnectTimeout = 10 * time.Second
	// DefaultIdleTimeout is shorter than the 5 s after which the services close an idle connection: a POST that meets that close
	// gets an error that nobody can tell from the loss of an applied request.
	DefaultIdleTimeout    = time.Second
	DefaultMaxIdlePerNode = 64
)

// ErrClosed is the cause with which the operations of a closed client end.
var ErrClosed = errors.New("the client was closed")

// Config configures a Client. It is copied.
type Config struct {
	Nodes Nodes
	// Dial connects. Nil: over TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS, if set, protects all connections. The name that a certificate must have is the node's host, unless ServerName is set.
	TLS *tls.Config
	// Credential returns the credential for a node. It must not panic, and return when the context ends. Nil: none is sent.
	Credential func(ctx context.Context, service clustermap.Service, address string) (Credential, error)
	Agent      string // names the client in the User-Agent
	Strategy   retry.Strategy
	Observer   retry.Observer
	// ConnectTimeout limits connecting and the TLS handshake. Zero: DefaultConnectTimeout.
	ConnectTimeout time.Duration
	// IdleTimeout is how long a connection stays open without a request. Zero: DefaultIdleTimeout.
	IdleTimeout time.Duration
	MaxIdle     int // idle connections to all nodes; 0: no limit
	// MaxIdlePerNode limits the idle connections to one node and service. Zero: DefaultMaxIdlePerNode.
	MaxIdlePerNode int
	MaxPerNode     int // connections to one node and service; 0: no limit
	// Pools counts the connections. Nil: the client has its own.
	Pools *pools.Pools
}

// Credential proves who asks. The zero value sends nothing, as client certificates need.
type Credential struct {
	Username, Password string
	Token              string // a JSON web token; if set, the others are not used
}

// String hides the secrets.
func (Credential) String() string { return "Credential{...}" }

// GoString hides the secrets.
func (c Credential) GoString() string { return c.String() }

// Client sends requests to the services. It is safe for concurrent use.
type Client struct {
	nodes      Nodes
	credential func(context.Context, clustermap.Service, string) (Credential, error)
	agent      string
	scheme     string
	connect    *connector
	transport  *http.Transport
	engine     *retry.Engine
	failures   failures
	statements statements
	closed     context.Context //nolint:containedctx // it is the client's life, which ends its operations and its dials
	close      context.CancelCauseFunc
}

// New returns a client. It connects when a request needs it.
func New(c Config) (*Client, error) {
	if c.Nodes == nil {
		return nil, errors.New("services: Config.Nodes is nil")
	}
	engine, err := retry.New(retry.Options{Strategy: c.Strategy, Observer: c.Observer, DeadlineMode: retry.DeadlineCapDelay})
	if err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	client := &Client{nodes: c.Nodes, credential: c.Credential, agent: c.Agent, scheme: "http://", engine: engine}
	client.closed, client.close = context.WithCancelCause(context.Background())
	client.connect = &connector{dial: c.Dial, tls: c.TLS, timeout: orDefault(c.ConnectTimeout, DefaultConnectTimeout), closed: client.closed}
	if client.connect.pools = c.Pools; c.Pools == nil {
		client.connect.pools = pools.New(nil)
	}
	client.connect.most = c.MaxPerNode
	if client.connect.dial == nil {
		client.connect.dial = new(net.Dialer).DialContext
	}
	if c.TLS != nil {
		client.scheme = "https://"
	}
	client.transport = &http.Transport{
		DialContext:         client.connect.plain,
		DialTLSContext:      client.connect.secure,
		IdleConnTimeout:     orDefault(c.IdleTimeout, DefaultIdleTimeout),
		MaxIdleConns:        c.MaxIdle,
		MaxIdleConnsPerHost: orDefault(c.MaxIdlePerNode, DefaultMaxIdlePerNode),
		MaxConnsPerHost:     c.MaxPerNode,
	}
	return client, nil
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Close ends all operations, with ErrClosed as their cause, and waits until all connections are closed.
func (c *Client) Close() {
	none := c.connect.open.close()
	c.close(ErrClosed)
	c.transport.CloseIdleConnections()
	<-none
}

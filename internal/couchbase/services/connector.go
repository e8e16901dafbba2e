package services

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
)

// connector makes the connections of a client.
type connector struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
	timeout time.Duration
	pools   *pools.Pools
	most    int // connections to one node and service; 0: no limit
	open    openConns
	closed  context.Context //nolint:containedctx // the client's life: net/http goes on dialling after a request has ended
}

// limited returns a context for one dial.
func (d *connector) limited(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	stop := context.AfterFunc(d.closed, cancel)
	return ctx, func() { stop(); cancel() }
}

// connect makes a connection, with or without TLS.
func (d *connector) connect(ctx context.Context, network, address string, secure func(context.Context, net.Conn, string) (net.Conn, error)) (net.Conn, error) {
	if !d.open.enter() {
		return nil, ErrClosed
	}
	c, err := d.counted(ctx, address, func() (net.Conn, error) {
		ctx, cancel := d.limited(ctx)
		defer cancel()
		raw, err := d.raw(ctx, network, address)
		if err == nil && secure != nil {
			raw, err = secure(ctx, raw, address)
		}
		return raw, err
	})
	if err != nil {
		d.open.leave()
		return nil, err
	}
	return c, nil
}

// counted makes a connection that is counted, and of which a tracer is told.
func (d *connector) counted(ctx context.Context, address string, connect func() (net.Conn, error)) (*conn, error) {
	place := pools.Place{Address: address}
	place.Service, _ = ctx.Value(serviceKey{}).(string)
	pooled, err := d.pools.Begin(place)
	if err != nil {
		return nil, err
	}
	raw, err := connect()
	if err != nil {
		pooled.Failed(err)
		return nil, err
	}
	c := &conn{Conn: raw, pooled: pooled, ended: d.left}
	if err := pooled.Made(c.busy); err != nil {
		c.ended = func(c *conn) { c.pooled.Closed("failed", err) }
		c.Close()
		return nil, err
	}
	return c, nil
}

// left counts the end of a connection.
func (d *connector) left(c *conn) {
	lost := c.lost.Load()
	switch {
	case d.closed.Err() != nil:
		c.pooled.Closed("shutdown", nil)
	case lost != nil:
		c.pooled.Closed("lost", *lost)
	case c.busy(), c.abandoned.Load():
		c.pooled.Closed(pools.Abandoned, nil)
	default:
		c.pooled.Closed(pools.Idle, nil)
	}
	d.open.leave()
}

// serviceKey is the key of the context of an exchange under which the connections that are made for it find the name of the service.
type serviceKey struct{}

// serviceName is the name of a service in what a tracer is told.
func serviceName(s clustermap.Service) string {
	if s == clustermap.Management {
		return "management"
	}
	return s.String()
}

// raw dials. The application's dialer and its connections run on goroutines of net/http, where a panic would end the process: a panic
// is an error.
func (d *connector) raw(ctx context.Context, network, address string) (nc net.Conn, err error) {
	defer panicked.Recovered("the dialer", &err)
	nc, err = d.dial(ctx, network, address)
	switch {
	case err != nil:
		return nil, err
	case nc == nil:
		return nil, errors.New("the dialer returned neither a connection nor an error")
	}
	return panicked.Conn(nc), nil
}

func (d *connector) plain(ctx context.Context, network, address string) (net.Conn, error) {
	return d.connect(ctx, network, address, nil)
}

func (d *connector) secure(ctx context.Context, network, address string) (net.Conn, error) {
	return d.connect(ctx, network, address, d.handshake)
}

// handshake makes TLS on a connection. It closes it after an error.
func (d *connector) handshake(ctx context.Context, raw net.Conn, address string) (net.Conn, error) {
	config := d.tls.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			raw.Close()
			return nil, err
		}
		config.ServerName = host
	}
	secured := tls.Client(raw, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return secured, nil
}

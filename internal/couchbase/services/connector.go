package services

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// connector makes the connections of a client.
type connector struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
	timeout time.Duration
	closed  context.Context //nolint:containedctx // the client's life: net/http goes on dialling after a request has ended
}

// limited returns a context for one dial.
func (d *connector) limited(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	stop := context.AfterFunc(d.closed, cancel)
	return ctx, func() { stop(); cancel() }
}

func (d *connector) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := d.limited(ctx)
	defer cancel()
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: raw}, nil
}

func (d *connector) secure(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := d.limited(ctx)
	defer cancel()
	raw, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName == "" {
		if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
			raw.Close()
			return nil, err
		}
	}
	secured := tls.Client(raw, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return &conn{Conn: secured}, nil
}

package cluster

import (
	"context"
	"net"

	"golang.org/x/net/proxy"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Proxy is a SOCKS5 proxy (https://github.com/mongodb/specifications/blob/master/source/socks5-support/socks5.md).
type Proxy struct {
	Address            string // with its port
	Username, Password string // both are empty for a proxy without a login
}

// proxied is a dialer whose connections go through a proxy, which looks up the host names.
type proxied struct {
	*Proxy
	direct Dialer // reaches the proxy
}

// proxyError is the error of a connection that the proxy did not make.
type proxyError struct{ err error }

func (e *proxyError) Error() string { return e.err.Error() }
func (e *proxyError) Unwrap() error { return e.err }

// DialContext implements [Dialer]. A Unix domain socket is reached without the proxy.
func (p *proxied) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if topology.IsSocketFile(address) {
		return p.direct.DialContext(ctx, network, address)
	}
	var login *proxy.Auth
	if p.Username != "" {
		login = &proxy.Auth{User: p.Username, Password: p.Password}
	}
	reached := &toProxy{direct: p.direct}
	socks, err := proxy.SOCKS5(network, p.Address, login, reached)
	if err == nil {
		_, err = socks.(proxy.ContextDialer).DialContext(ctx, network, address)
	}
	if err != nil {
		reached.close()
		return nil, &proxyError{err}
	}
	return reached.conn, nil
}

// toProxy keeps the connection to the proxy, because that of package proxy hides what a pool asks of a connection of package net.
type toProxy struct {
	direct Dialer
	conn   net.Conn
}

// DialContext implements [proxy.ContextDialer].
func (t *toProxy) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	conn, err := dial(ctx, t.direct, address)
	t.conn = conn
	return conn, err
}

// Dial implements [proxy.Dialer].
func (t *toProxy) Dial(network, address string) (net.Conn, error) {
	return t.DialContext(context.Background(), network, address)
}

func (t *toProxy) close() {
	if t.conn != nil {
		closeQuietly(t.conn)
	}
}

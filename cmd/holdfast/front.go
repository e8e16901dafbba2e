package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// front is where clients connect to one server, at one or several addresses. It hands their connections to the server in
// this process, or once it is told to, on to another process.
type front struct {
	ctx       context.Context //nolint:containedctx // it ends with the front
	end       context.CancelFunc
	listeners []net.Listener
	tls       *frontTLS
	own       ownListener
	welcome   func(net.Conn) // takes connections of other processes of the set; nil if there are none
	elsewhere atomic.Pointer[string]
	all       sync.WaitGroup
}

// newFront listens at the addresses, all with one port, and at a Unix socket if its folder is given.
func newFront(addresses []netip.Addr, port int, unixFolder string, secure *frontTLS) (*front, error) {
	ctx, end := context.WithCancel(context.Background())
	f := &front{ctx: ctx, end: end, tls: secure}
	f.own = ownListener{front: f, conns: make(chan net.Conn), closed: make(chan struct{})}
	for _, address := range addresses {
		if err := f.listen(net.Listen(networkOf(address), netip.AddrPortFrom(address, uint16(port)).String())); err != nil {
			return nil, err
		}
		port = f.port()
	}
	if unixFolder == "" {
		return f, nil
	}
	path := filepath.Join(unixFolder, socketName(port))
	removeStaleSocket(path)
	if err := f.listen(net.Listen("unix", path)); err != nil {
		return nil, fmt.Errorf("--unixSocketPrefix: %w", err)
	}
	return f, nil
}

// listen adds a listener, and if there is none ends the front.
func (f *front) listen(l net.Listener, err error) error {
	if err != nil {
		f.close()
		return err
	}
	f.listeners = append(f.listeners, l)
	return nil
}

// port is the TCP port, which differs from the one asked for if that was 0.
func (f *front) port() int {
	addr, ok := f.listeners[0].Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return addr.Port
}

// reached returns the URI with what a client needs besides to get in.
func (f *front) reached(uri string) string {
	switch {
	case f.tls == nil || !f.tls.required:
		return uri
	case strings.Contains(uri, "?"):
		return uri + "&tls=true"
	}
	return uri + "?tls=true"
}

// open begins to accept connections.
func (f *front) open() {
	for _, l := range f.listeners {
		f.all.Go(func() { f.acceptAll(l) })
	}
}

func (f *front) acceptAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err == nil {
			f.all.Go(func() { f.admit(c) })
		} else if f.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// close ends the front and the connections that it hands on.
func (f *front) close() {
	f.end()
	for _, l := range f.listeners {
		_ = l.Close()
	}
	f.all.Wait()
}

// greeting is how a process begins its talk with another one of its set. As the length of a message it is too large.
const greeting = "HOLDFAST"

// admit finds out what a new connection is for.
func (f *front) admit(c net.Conn) {
	stop := context.AfterFunc(f.ctx, func() { _ = c.Close() })
	known, first, err := f.identify(c)
	switch {
	case err != nil:
		_ = c.Close()
	case string(first) == greeting && f.welcome != nil:
		f.welcome(known)
	case f.elsewhere.Load() != nil:
		pipe(known, *f.elsewhere.Load())
	case stop(): // from here on it is the server's
		f.own.hand(known)
	}
	stop()
}

// identify reads what a connection begins with, and returns it together with a connection on which it is still to be read, or
// from which TLS was taken.
func (f *front) identify(c net.Conn) (net.Conn, []byte, error) {
	if f.welcome == nil && f.tls == nil {
		return c, nil, nil
	}
	first := make([]byte, len(greeting))
	if _, err := io.ReadFull(c, first); err != nil {
		return nil, nil, err
	}
	if f.welcome != nil && string(first) == greeting {
		return c, first, nil
	}
	begun := &begunConn{c, first}
	if f.tls == nil {
		return begun, first, nil
	}
	secure, err := f.tls.wrap(begun, first[0])
	return secure, first, err
}

// begunConn is a connection of which something was read that is read again.
type begunConn struct {
	net.Conn
	rest []byte
}

// Read reads first what was read before.
func (c *begunConn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// SetLinger is the TCP connection's.
func (c *begunConn) SetLinger(seconds int) error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SetLinger(seconds)
	}
	return nil
}

// pipe connects a client with the server at an address until one of them ends.
func pipe(client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	both.Wait()
}

// ownListener is what the server in this process accepts its connections from.
type ownListener struct {
	front  *front
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *ownListener) hand(c net.Conn) {
	select {
	case l.conns <- c:
	case <-l.closed:
		_ = c.Close()
	}
}

// Accept returns the next connection for the server.
func (l *ownListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the server's share: connections for it are closed.
func (l *ownListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is the front's first address.
func (l *ownListener) Addr() net.Addr { return l.front.listeners[0].Addr() }

// frontTLS is how a front speaks TLS.
type frontTLS struct {
	config   *tls.Config
	required bool
}

// handshake is the first byte of a connection that begins with TLS.
const handshake = 0x16

var errPlain = errors.New("TLS is required")

func (t *frontTLS) wrap(c net.Conn, first byte) (net.Conn, error) {
	switch {
	case first == handshake:
		return tls.Server(c, t.config), nil
	case t.required:
		return nil, errPlain
	}
	return c, nil
}

var _ net.Listener = (*ownListener)(nil)

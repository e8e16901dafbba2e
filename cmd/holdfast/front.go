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

// front accepts the connections of one server, at one or several addresses. It passes them to the server in this
// process or, when forwardTo is set, to another process.
type front struct {
	ctx       context.Context //nolint:containedctx // it ends with the front
	end       context.CancelFunc
	listeners []net.Listener
	tls       *frontTLS
	own       ownListener
	welcome   func(net.Conn) // serves connections of other processes of the set; nil without --replSet
	forwardTo atomic.Pointer[string]
	all       sync.WaitGroup
}

// newFront listens at the addresses, all with the same port, and at a Unix socket if its folder is given.
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

// listen adds a listener. On an error it closes the front.
func (f *front) listen(l net.Listener, err error) error {
	if err != nil {
		f.close()
		return err
	}
	f.listeners = append(f.listeners, l)
	return nil
}

// port returns the TCP port. It is the chosen one if the flag was 0.
func (f *front) port() int {
	addr, ok := f.listeners[0].Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return addr.Port
}

// clientURI returns the URI with the option tls=true if TLS is required.
func (f *front) clientURI(uri string) string {
	switch {
	case f.tls == nil || !f.tls.required:
		return uri
	case strings.Contains(uri, "?"):
		return uri + "&tls=true"
	}
	return uri + "?tls=true"
}

// open starts to accept connections.
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

// close closes the listeners and the forwarded connections.
func (f *front) close() {
	f.end()
	for _, l := range f.listeners {
		_ = l.Close()
	}
	f.all.Wait()
}

// greeting is the first message of a process to another one of its set. No client sends these bytes first: as a
// message length they are too large.
const greeting = "HOLDFAST"

// admit passes a new connection to welcome, to another process or to the server in this process.
func (f *front) admit(c net.Conn) {
	stop := context.AfterFunc(f.ctx, func() { _ = c.Close() })
	known, first, err := f.identify(c)
	switch {
	case err != nil:
		_ = c.Close()
	case string(first) == greeting && f.welcome != nil:
		f.welcome(known)
	case f.forwardTo.Load() != nil:
		pipe(known, *f.forwardTo.Load())
	case stop(): // the server closes it from now on
		f.own.hand(known)
	}
	stop()
}

// identify reads the first bytes of a connection. It returns them, and a connection from which they can be read
// again; with TLS, that is the TLS connection.
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

// begunConn is a connection whose first bytes were read and are read again.
type begunConn struct {
	net.Conn
	begin []byte
}

// Read returns the first bytes again, then reads from the connection.
func (c *begunConn) Read(b []byte) (int, error) {
	if len(c.begin) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.begin)
	c.begin = c.begin[n:]
	return n, nil
}

// SetLinger calls SetLinger of the TCP connection, if it is one.
func (c *begunConn) SetLinger(seconds int) error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SetLinger(seconds)
	}
	return nil
}

// pipe copies bytes between a client and the server at an address until one of them closes its connection.
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

// ownListener is the listener of the server in this process.
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

// Close closes the listener. Later connections for the server are closed.
func (l *ownListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns the front's first address.
func (l *ownListener) Addr() net.Addr { return l.front.listeners[0].Addr() }

// frontTLS has the TLS configuration of a front.
type frontTLS struct {
	config   *tls.Config
	required bool
}

// handshake is the first byte of a TLS connection.
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

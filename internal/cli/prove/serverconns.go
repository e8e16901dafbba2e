package prove

import (
	"context"
	"errors"
	"net"
	"sync"
)

// errServerEnded means that a server which is not part of this process went away on its own. The cell shows nothing then.
var errServerEnded = errors.New("the server closed or refused a connection, though the experiment did not ask for that: it may have ended")

var errOutage = errors.New("an outage that the experiment made")

// serverConns are a proxy's connections to a server. The zero value has none.
type serverConns struct {
	mu   sync.Mutex
	open map[*serverConn]struct{}
	dark bool // there is an outage
	lost bool // the server closed or refused a connection
}

func (s *serverConns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.lost = s.lost || ctx.Err() == nil
		return nil, err
	case s.dark:
		return nil, errors.Join(errOutage, conn.Close())
	case s.open == nil:
		s.open = make(map[*serverConn]struct{})
	}
	c := &serverConn{conn, s}
	s.open[c] = struct{}{}
	return c, nil
}

// cut begins an outage: all connections end, as they do when a server dies, and there are no new ones.
func (s *serverConns) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dark = true
	for c := range s.open {
		_ = c.Conn.Close()
	}
}

func (s *serverConns) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dark = false
}

// err returns errServerEnded if the server did.
func (s *serverConns) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return errServerEnded
	}
	return nil
}

// serverConn is one of them.
type serverConn struct {
	net.Conn
	all *serverConns
}

func (c *serverConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.all.mu.Lock()
		defer c.all.mu.Unlock()
		c.all.lost = true
	}
	return n, err
}

func (c *serverConn) Close() error {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	delete(c.all.open, c)
	return c.Conn.Close()
}

package prove

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// errServerEnded means that a server which is not part of this process went away on its own. The cell shows nothing then.
var errServerEnded = errors.New("the server closed or refused a connection, though the experiment did not ask for that: it may have ended")

// lostConns counts the connections that a server closed or refused.
type lostConns struct{ count atomic.Int64 }

func (l *lostConns) err() error {
	if l.count.Load() > 0 {
		return errServerEnded
	}
	return nil
}

func (l *lostConns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		if ctx.Err() == nil {
			l.count.Add(1)
		}
		return nil, err
	}
	return &watchedConn{Conn: conn, lost: l}, nil
}

// watchedConn is a connection to a server. Only one goroutine reads it.
type watchedConn struct {
	net.Conn
	lost *lostConns
}

func (w *watchedConn) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		w.lost.count.Add(1)
	}
	return n, err
}

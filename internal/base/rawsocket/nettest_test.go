package rawsocket

import (
	"net"
	"sync"
	"testing"

	"golang.org/x/net/nettest"
)

// The rules of every net.Conn: deadlines, a Close while others read and write, pieces of any size.
func TestConnectionsDoWhatEveryNetConnMust(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		here, there := pair(t)
		a, b := &inTurn{Conn: here}, &inTurn{Conn: Of(there)}
		return a, b, func() { _, _ = a.Close(), b.Close() }, nil
	})
}

// inTurn lets one goroutine at a time read, and one write: so it is promised to Of.
type inTurn struct {
	net.Conn
	reads, writes sync.Mutex
}

func (c *inTurn) Read(p []byte) (int, error) {
	c.reads.Lock()
	defer c.reads.Unlock()
	return c.Conn.Read(p)
}

func (c *inTurn) Write(p []byte) (int, error) {
	c.writes.Lock()
	defer c.writes.Unlock()
	return c.Conn.Write(p)
}

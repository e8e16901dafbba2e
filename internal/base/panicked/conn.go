package panicked

import (
	"net"
	"time"
)

// Conn returns a connection of the application as one that does not panic: a panic of its methods is their error.
func Conn(nc net.Conn) net.Conn { return &conn{nc} }

type conn struct{ net.Conn }

// NetConn returns the application's connection, as that of a [crypto/tls.Conn] does.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Read(b []byte) (n int, err error) {
	defer Recovered("the connection's Read", &err)
	return c.Conn.Read(b)
}

func (c *conn) Write(b []byte) (n int, err error) {
	defer Recovered("the connection's Write", &err)
	return c.Conn.Write(b)
}

func (c *conn) Close() (err error) {
	defer Recovered("the connection's Close", &err)
	return c.Conn.Close()
}

func (c *conn) SetDeadline(t time.Time) (err error) {
	defer Recovered("the connection's SetDeadline", &err)
	return c.Conn.SetDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) (err error) {
	defer Recovered("the connection's SetReadDeadline", &err)
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) SetWriteDeadline(t time.Time) (err error) {
	defer Recovered("the connection's SetWriteDeadline", &err)
	return c.Conn.SetWriteDeadline(t)
}

package kv

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// The application's dialer, the connections of that, the functions of its TLS configuration, and the functions of a [Config] run on
// goroutines of the connection, where a panic would end the process, or on that of a caller, which would leave the connection without a
// reader: a panic there becomes an error.

// read reads from the connection. Only the reader may call it.
func (c *Conn) read(b []byte) (n int, err error) {
	defer panicked.Recovered("the connection's Read", &err)
	return c.nc.Read(b)
}

// write writes to the connection. Only the writer may call it.
func (c *Conn) write(b []byte) (n int, err error) {
	defer panicked.Recovered("the connection's Write", &err)
	return c.nc.Write(b)
}

// closeQuietly closes a connection whose Close may panic: nobody waits for its result.
func (c *Conn) closeQuietly() {
	defer func() { _ = recover() }()
	_ = c.raw.Close()
}

// setDeadlineQuietly sets a deadline of the connection. A connection without deadlines only ends its calls later.
func (c *Conn) setDeadlineQuietly(set func(time.Time) error, at time.Time) {
	defer func() { _ = recover() }()
	_ = set(at)
}

package kv

import (
	"fmt"
	"time"
)

// recovered is deferred by a function that calls the application's code: its dialer, the connections of that, the functions of its
// TLS configuration, and the functions of a [Config]. It makes a panic the function's error, because on a goroutine of the
// connection a panic would end the process, and on that of a caller it would leave the connection without a reader.
func recovered(who string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s panicked: %v", who, v)
	}
}

// read reads from the connection. Only the reader may call it.
func (c *Conn) read(b []byte) (n int, err error) {
	defer recovered("the connection's Read", &err)
	return c.nc.Read(b)
}

// write writes to the connection. Only the writer may call it.
func (c *Conn) write(b []byte) (n int, err error) {
	defer recovered("the connection's Write", &err)
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

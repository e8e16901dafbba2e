package testserver

import (
	"net"
	"syscall"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
)

// Abort closes a connection with a reset, as the end of a process does.
func Abort(c net.Conn) {
	switch c := c.(type) {
	case interface{ SetLinger(seconds int) error }:
		_ = c.SetLinger(0)
	case *memnet.Conn:
		c.Abort(syscall.ECONNRESET)
		return
	}
	_ = c.Close()
}

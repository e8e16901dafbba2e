//go:build unix

package cluster

import (
	"net"
	"syscall"
)

// openAndSilent reports, without blocking, whether an idle connection is still open with nothing to read. A NAT or a
// server that dropped it while it was idle would otherwise cost the next operation an attempt. Under TLS too nothing may
// have come: a server that ends the session says so.
func openAndSilent(nc net.Conn) bool {
	sc, ok := socketOf(nc).(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	})
	return err == nil && open
}

// socketOf returns the connection beneath all layers, such as TLS, that give access to the one they are on.
func socketOf(nc net.Conn) net.Conn {
	for {
		layer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = layer.NetConn()
	}
}

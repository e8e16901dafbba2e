//go:build unix

package cluster

import (
	"net"
	"syscall"
)

// openAndSilent reports, without blocking, whether an idle connection is open and has nothing to read. Without this
// check the next operation would lose an attempt if the server or a NAT closed the connection while it was idle. This
// is right under TLS too: a server sends no bytes on an idle connection, except to end the session.
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

// socketOf returns the innermost connection, below layers such as TLS that have a NetConn method.
func socketOf(nc net.Conn) net.Conn {
	for {
		layer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = layer.NetConn()
	}
}

package cluster

import "syscall"

// tcpUserTimeout is Linux's option number; the syscall package does not name it.
const tcpUserTimeout = 18

// limitUnanswered limits how long sent bytes may stay unacknowledged.
func limitUnanswered(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Best effort: the keepalive is the second guard.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(blackHole.Milliseconds()))
	})
}

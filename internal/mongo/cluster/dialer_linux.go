package cluster

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not have.
const tcpUserTimeout = 18

// limitUnanswered limits the time for which sent bytes may stay unacknowledged.
func limitUnanswered(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// An error is ignored: keepalives still find the failure.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unansweredLimit.Milliseconds()))
	})
}

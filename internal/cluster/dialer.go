package cluster

import (
	"net"
	"syscall"
	"time"
)

// A black hole is noticed by the kernel after some ten seconds, for bytes sent (TCP_USER_TIMEOUT) and for silence.
const blackHole = 10 * time.Second

// tcpUserTimeout is Linux's option number; the syscall package does not name it.
const tcpUserTimeout = 18

func tcpDialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: blackHole / 2, Interval: blackHole / 10, Count: 5},
		Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) {
				// Best effort: the keepalive above is the second guard.
				_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(blackHole.Milliseconds()))
			})
		},
	}
}

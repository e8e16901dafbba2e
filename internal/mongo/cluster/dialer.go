package cluster

import (
	"net"
	"time"
)

// A black hole is noticed by the kernel after some ten seconds, for bytes sent (where the system can) and for silence.
const blackHole = 10 * time.Second

func tcpDialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: blackHole / 2, Interval: blackHole / 10, Count: 5},
		Control:         limitUnanswered,
	}
}

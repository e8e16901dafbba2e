package cluster

import (
	"net"
	"time"
)

// unansweredLimit is the time after which the kernel ends a connection whose peer does not answer: keepalives on
// every system, and sent bytes where the system has TCP_USER_TIMEOUT.
const unansweredLimit = 10 * time.Second

func tcpDialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: unansweredLimit / 2, Interval: unansweredLimit / 10, Count: 5},
		Control:         limitUnanswered,
	}
}

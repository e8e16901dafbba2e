package cluster

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
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

// dial calls the dialer, which can be the application's.
func dial(ctx context.Context, dialer Dialer, address string) (nc net.Conn, err error) {
	defer panicked.Recovered("the Dialer", &err)
	nc, err = dialer.DialContext(ctx, networkOf(address), address)
	if nc == nil && err == nil {
		return nil, errNoConn
	}
	return nc, err
}

var errNoConn = errors.New("the Dialer returned neither a connection nor an error")

// networkOf returns the network of an address, as package net calls it.
func networkOf(address string) string {
	if topology.IsSocketFile(address) {
		return "unix"
	}
	return "tcp"
}

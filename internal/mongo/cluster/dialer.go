package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"runtime"
	"strings"
	"time"

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

// dial calls the dialer. The dialer can be the application's, and it runs in a goroutine of the cluster, where a panic would
// end the process: it becomes an error.
func dial(ctx context.Context, dialer Dialer, address string) (nc net.Conn, err error) {
	defer func() {
		if v := recover(); v != nil {
			nc, err = nil, &dialerPanic{value: v, place: panicPlace()}
		}
	}()
	nc, err = dialer.DialContext(ctx, networkOf(address), address)
	if nc == nil && err == nil {
		return nil, errNoConn
	}
	return nc, err
}

var errNoConn = errors.New("the Dialer returned neither a connection nor an error")

// dialerPanic is the error of a connection whose Dialer panicked.
type dialerPanic struct {
	value any
	place string // where it panicked: a function, a file and a line
}

func (e *dialerPanic) Error() string {
	return fmt.Sprintf("the Dialer panicked in %s: %v", e.place, e.value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *dialerPanic) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// panicPlace returns where the goroutine panicked. It is called by the deferred function that recovers.
func panicPlace() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for panicked := false; ; {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "runtime.") // gopanic, and for a nil pointer sigpanic
		if panicked && !inside {
			return fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
		}
		if panicked = panicked || inside; !more {
			return "an unknown function"
		}
	}
}

// networkOf returns the network of an address, as package net calls it.
func networkOf(address string) string {
	if topology.IsSocketFile(address) {
		return "unix"
	}
	return "tcp"
}

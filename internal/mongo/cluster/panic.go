package cluster

import (
	"fmt"
	"net"
	"path"
	"runtime"
	"strings"
)

// The application's Dialer, its connections, its Resolver and the functions of its TLS configuration run on goroutines of the
// cluster, where the application cannot recover and a panic would end the process. There a panic becomes an error. Listeners
// and log sinks are no part of a connection: their panics are not recovered, as in the official driver.

// panicError is the error of a connection or a look-up in which the application's code panicked.
type panicError struct {
	who   string
	value any
	place string // where it panicked: a function, a file and a line
}

func (e *panicError) Error() string {
	return fmt.Sprintf("%s panicked in %s: %v", e.who, e.place, e.value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// recovered is deferred by a function that calls the application's code. It makes a panic the function's error.
func recovered(who string, err *error) {
	if v := recover(); v != nil {
		*err = &panicError{who: who, value: v, place: panicPlace()}
	}
}

// closeQuietly closes a connection whose Close may panic: nobody waits for its result.
func closeQuietly(nc net.Conn) {
	defer func() { _ = recover() }()
	_ = nc.Close()
}

// panicPlace returns where the goroutine panicked. It is called while the goroutine recovers.
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

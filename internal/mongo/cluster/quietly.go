package cluster

import "net"

// The application's Dialer, its connections, its Resolver and the functions of its TLS configuration run on goroutines of the
// cluster: a panic there becomes an error, see package panicked. Listeners and log sinks are no part of a connection: their panics are
// not recovered, as in the official driver.

// closeQuietly closes a connection whose Close may panic: nobody waits for its result.
func closeQuietly(nc net.Conn) {
	defer func() { _ = recover() }()
	_ = nc.Close()
}

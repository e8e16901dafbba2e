//go:build !unix

package cluster

import "net"

// quiet cannot look without blocking here: a connection that was dropped while it rested is found out by its next use.
func quiet(net.Conn) bool { return true }

//go:build !unix

package cluster

import "net"

// openAndSilent cannot look without blocking here: a connection that was dropped while it was idle is found out by its next use.
func openAndSilent(net.Conn) bool { return true }

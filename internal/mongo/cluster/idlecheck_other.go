//go:build !unix

package cluster

import "net"

// socketIsOpenAndSilent always returns true: this system has no read that does not block. The next use of a connection that
// the server closed while it was idle fails.
func socketIsOpenAndSilent(net.Conn) bool { return true }

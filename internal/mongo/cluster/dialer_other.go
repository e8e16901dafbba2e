//go:build !linux

package cluster

import "syscall"

// limitUnanswered does nothing: TCP_USER_TIMEOUT is Linux's, elsewhere there is only the keepalive.
func limitUnanswered(_, _ string, _ syscall.RawConn) error { return nil }

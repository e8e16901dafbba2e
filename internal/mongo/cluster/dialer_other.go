//go:build !linux

package cluster

import "syscall"

// limitUnanswered does nothing: only Linux has TCP_USER_TIMEOUT. Other systems have the keepalives only.
func limitUnanswered(_, _ string, _ syscall.RawConn) error { return nil }

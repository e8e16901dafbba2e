//go:build !linux

package kv

import "net"

// loneExchange exists on Linux only.
type loneExchange struct{}

const mostLone = 0

func newLoneExchange(net.Conn, func()) *loneExchange { return nil }

func (*loneExchange) arrived([]byte) (n int, none bool, err error) { return 0, true, nil }

func (*loneExchange) do(_, _ []byte) (n int, all bool, err error) { return 0, false, nil }

//go:build !linux || !(amd64 || arm64) || race

package rawsocket

import "net"

// Of returns c. On other systems a call must go through the C library, or has another number. The race detector learns from package net that who reads
// bytes comes after who wrote them.
func Of(c net.Conn) net.Conn { return c }

//go:build race

package kv

import (
	"errors"
	"syscall"
)

// The race detector learns from these calls what happens before what in the two ends of a connection of one process.

func writeOnce(fd uintptr, b []byte) (int, syscall.Errno) { return once(syscall.Write(int(fd), b)) }

func readOnce(fd uintptr, b []byte) (int, syscall.Errno) { return once(syscall.Read(int(fd), b)) }

func once(n int, err error) (int, syscall.Errno) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}

//go:build !race

package kv

import (
	"syscall"
	"unsafe"
)

// The socket does not block, so the scheduler need not know of these calls. They return 0 bytes with an error.

func writeOnce(fd uintptr, b []byte) (int, syscall.Errno) { return call(syscall.SYS_WRITE, fd, b) }

func readOnce(fd uintptr, b []byte) (int, syscall.Errno) { return call(syscall.SYS_READ, fd, b) }

func call(trap, fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

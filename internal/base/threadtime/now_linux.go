// Package threadtime measures the processor time of a thread, for tests that compare how long two things take. Lock the goroutine to its
// thread meanwhile.
package threadtime

import (
	"syscall"
	"time"
	"unsafe"
)

// Now returns the processor time that the calling thread has used: other work on the machine adds nothing to it.
func Now() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var now syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		panic(err)
	}
	return time.Duration(now.Nano())
}

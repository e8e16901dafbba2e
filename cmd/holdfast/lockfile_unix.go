//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks an open file without waiting: exclusive, or shared with other processes. The lock ends when the file is
// closed, also by the end of the process. If another process has it, lockFile returns errLocked.
func lockFile(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// terminate asks a process to end.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try locks an open file without waiting: exclusive, or shared with other processes. The lock ends when the file is closed,
// also by the end of the process. If another process has it, Try returns ErrLocked.
func Try(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

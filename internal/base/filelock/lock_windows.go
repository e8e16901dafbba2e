package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte is far behind the process id in the file, because Windows refuses to write to locked bytes.
const lockedByte = 1 << 30

// Try locks an open file without waiting: exclusive, or shared with other processes. The lock ends when the file is closed,
// also by the end of the process. If another process has it, Try returns ErrLocked.
func Try(file *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, &windows.Overlapped{Offset: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Package filelock locks files between processes.
package filelock

import "errors"

// ErrLocked is the error of Try if another process has locked the file.
var ErrLocked = errors.New("another process has locked the file")

//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
)

func TestAPipeAsLogFileIsNotRenamed(t *testing.T) {
	checkLogIsKept(t, os.ModeNamedPipe, func(path string) error {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return err
		}
		reader, err := os.OpenFile(path, os.O_RDWR, 0)
		t.Cleanup(func() { _ = reader.Close() })
		return err
	})
}

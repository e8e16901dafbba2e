package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAMissingFolderHasMongodsExitCode(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "missing")
	code, stderr := mockOnce(t, "--dbpath", folder)
	if code != exitNoFolder || !strings.Contains(stderr, "Data directory "+folder+" not found") || strings.Contains(stderr, "lock file") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// Another process may have the id in the lock file now. Here it is a process that does not use the folder.
func TestALockFileOfADeadProcessIsIgnored(t *testing.T) {
	folder := t.TempDir()
	died, unrelated := startMongod(t, "--port", "0", "--dbpath", folder), startMongod(t, "--port", "0")
	died.signal(syscall.SIGKILL)
	died.ends(-1)
	stale := fmt.Appendln(nil, unrelated.cmd.Process.Pid)
	if err := os.WriteFile(filepath.Join(folder, lockName), stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := holdfast(t.Context(), "mock", "--shutdown", "--dbpath", folder); code != exitCannotRun || !strings.Contains(stderr, "there doesn't seem to be a server running") {
		t.Errorf("--shutdown: exit code %d, %q", code, stderr)
	}
	if code, stderr := mockOnce(t, "--dbpath", folder); code != exitOK {
		t.Errorf("a start: exit code %d, %q", code, stderr)
	}
	if _, err := unrelated.client().ListDatabaseNames(t.Context(), struct{}{}); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mockOnce runs `holdfast mock`, which ends as soon as it runs.
func mockOnce(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr = holdfast(ctx, append([]string{"mock", "--standalone"}, args...)...)
	return code, stderr
}

func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	for _, e := range must(os.ReadDir(folder)) {
		names = append(names, e.Name())
	}
	return names
}

func TestALinkAsLogFileIsNotRenamed(t *testing.T) {
	checkLogIsKept(t, os.ModeSymlink, func(path string) error {
		return os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path)
	})
}

// checkLogIsKept runs with a log file that prepare makes, and checks that it keeps its type and is not renamed.
func checkLogIsKept(t *testing.T, kept os.FileMode, prepare func(path string) error) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "log")
	if err := prepare(path); err != nil {
		t.Fatal(err)
	}
	if code, stderr := mockOnce(t, "--logpath", path, "--pidfilepath", path); code != exitOK {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != kept {
		t.Errorf("afterwards it is %v, %v", info, err)
	}
	if names := namesIn(t, folder); len(names) != 1 {
		t.Errorf("there are %v", names)
	}
}

func TestAFolderAsLogFileIsRefused(t *testing.T) {
	folder := t.TempDir()
	code, stderr := mockOnce(t, "--logpath", folder)
	if code != exitCannotRun || !strings.Contains(stderr, "--logpath "+folder+" is a folder; it must be a file") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestLogsOfTheSameSecondAreAllKept(t *testing.T) {
	folder := t.TempDir()
	const runs = 4
	for range runs {
		if code, stderr := mockOnce(t, "--logpath", filepath.Join(folder, "log")); code != exitOK {
			t.Fatalf("exit code %d, %q", code, stderr)
		}
	}
	if names := namesIn(t, folder); len(names) != runs {
		t.Errorf("of %d runs there are the logs %v", runs, names)
	}
}

func TestAFailedStartChangesNoFilesOfARunningServer(t *testing.T) {
	folder := t.TempDir()
	log, pid := filepath.Join(folder, "log"), filepath.Join(folder, "pid")
	uri, end := startMock(t, "--standalone", "--pidfilepath", pid)
	if err := os.WriteFile(log, []byte("its log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := strings.TrimSuffix(uri[strings.LastIndex(uri, ":")+1:], "/")
	for _, wrong := range [][]string{{"--port", port}, {"--networkMessageCompressors", "lzma"}} {
		if code, stderr := mockOnce(t, append(wrong, "--logpath", log, "--pidfilepath", pid)...); code == exitOK {
			t.Errorf("with %v it starts: %q", wrong, stderr)
		}
		if names := namesIn(t, folder); len(names) != 2 {
			t.Errorf("after a start with %v there are %v", wrong, names)
		}
	}
	end()
	if names := namesIn(t, folder); len(names) != 1 {
		t.Errorf("in the end there are %v, want the log", names)
	}
}

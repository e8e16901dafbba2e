package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestASocketOfADeadProcessIsReplaced(t *testing.T) {
	folder := t.TempDir()
	died := startMongod(t, "--port", "0", "--unixSocketPrefix", folder)
	died.signal(syscall.SIGKILL)
	died.ends(-1)
	p := startMongod(t, "--port", fmt.Sprint(died.port), "--unixSocketPrefix", folder)
	if err := use(t, "mongodb://"+strings.ReplaceAll(filepath.Join(folder, socketName(p.port)), "/", "%2F")); err != nil {
		t.Error(err)
	}
	p.signal(syscall.SIGHUP)
	p.ends(exitOK)
	if names := namesIn(t, folder); len(names) != 0 {
		t.Errorf("it leaves %v", names)
	}
}

func TestASocketInUseIsNotRemoved(t *testing.T) {
	folder := t.TempDir()
	p := startMongod(t, "--port", "0", "--unixSocketPrefix", folder)
	code, stderr := mockOnce(t, "--port", fmt.Sprint(p.port), "--bind_ip", "127.0.0.2", "--unixSocketPrefix", folder)
	if code != exitCannotRun || !strings.Contains(stderr, "--unixSocketPrefix: ") || !strings.Contains(stderr, "in use") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	c, err := net.Dial("unix", filepath.Join(folder, socketName(p.port)))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestAFileThatIsNotASocketIsNotRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removeStaleSocket(path)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

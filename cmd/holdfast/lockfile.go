package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockName is the file in a --dbpath that holds the id of the process that uses it.
const lockName = "mongod.lock"

// lock notes this process as the one that uses a folder, and returns what ends that. In a folder that is not there nothing is
// noted.
func lock(folder string) (func(), error) {
	if folder == "" {
		return func() {}, nil
	}
	path := filepath.Join(folder, lockName)
	if pid := holder(path); pid != 0 {
		return nil, fmt.Errorf("--dbpath %s is used by the process %d", folder, pid)
	}
	err := writePID(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return func() { _ = os.Remove(path) }, err
}

func writePID(path string) error {
	return os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
}

// holder returns the id of the process in a lock file, 0 if there is none that runs.
func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 || pid == os.Getpid() || !runs(pid) {
		return 0
	}
	return pid
}

func runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// shutDown ends the process that uses a folder, and waits until it has ended.
func shutDown(s *session, folder string) error {
	pid := holder(filepath.Join(folder, lockName))
	if pid == 0 {
		return cannotRun(fmt.Errorf("there doesn't seem to be a server running with --dbpath %s", folder))
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return cannotRun(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for runs(pid) {
		select {
		case <-s.ctx.Done():
			return cannotRun(fmt.Errorf("interrupted before the process %d has ended", pid))
		case <-tick.C:
		}
	}
	fmt.Fprintf(s.stdout, "the process %d has ended\n", pid)
	return nil
}

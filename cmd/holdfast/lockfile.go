package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/filelock"
)

// lockName is the lock file in a --dbpath. The process that uses the folder locks it and writes its process id to it.
// In a file that is not locked the id has no meaning, because another process may have it now.
const lockName = "mongod.lock"

// lock locks a folder for this process. The returned function unlocks it. It leaves an empty file, as mongod does:
// another process may have opened it already, and must not lock a deleted file.
func lock(folder string) (func(), error) {
	if folder == "" {
		return func() {}, nil
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, &failure{exitNoFolder, fmt.Errorf("--dbpath: Data directory %s not found; it must be there already", folder)}
	}
	path := filepath.Join(folder, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, cannotRun(fmt.Errorf("--dbpath: %w", err))
	}
	err = filelock.Try(file, true)
	if err == nil {
		err = writePID(path)
	}
	switch {
	case errors.Is(err, filelock.ErrLocked):
		err = fmt.Errorf("--dbpath %s is used by the process %d", folder, readPID(path))
	case err != nil:
		err = fmt.Errorf("--dbpath: %w", err)
	default:
		return func() { _, _ = file.Truncate(0), file.Close() }, nil
	}
	_ = file.Close()
	return nil, cannotRun(err)
}

func writePID(path string) error {
	return os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
}

// readPID returns the process id in a file, 0 if there is none.
func readPID(path string) int {
	text, _ := os.ReadFile(path)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// isLocked reports whether a running process has locked the file.
func isLocked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(filelock.Try(file, false), filelock.ErrLocked)
}

// shutDown ends the process that uses a folder, and waits for its end.
func shutDown(s *session, folder string) error {
	path := filepath.Join(folder, lockName)
	held, pid := isLocked(path), readPID(path)
	switch {
	case !held:
		return cannotRun(fmt.Errorf("there doesn't seem to be a server running with --dbpath %s", folder))
	case pid == 0:
		return cannotRun(fmt.Errorf("the process that uses --dbpath %s has not written its id there", folder))
	}
	if err := terminate(pid); err != nil {
		return cannotRun(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for isLocked(path) {
		select {
		case <-s.ctx.Done():
			return cannotRun(fmt.Errorf("interrupted before the process %d has ended", pid))
		case <-tick.C:
		}
	}
	fmt.Fprintf(s.stdout, "the process %d has ended\n", pid)
	return nil
}

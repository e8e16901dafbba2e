package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// outputFiles are the log and the pid file of a server. They are opened last: a start that fails must not change the
// files of a running server.
type outputFiles struct {
	log     *serverLog
	logPath string // "" if the log goes elsewhere
	appends bool
	pidPath string
	closers []func()
}

func (o *outputFiles) open() error {
	if o.logPath != "" {
		file, err := openLogFile(o.logPath, o.appends)
		if err != nil {
			return err
		}
		o.log.w = file
		o.closers = append(o.closers, func() { _ = file.Close() })
	}
	if o.pidPath == "" {
		return nil
	}
	if err := writePID(o.pidPath); err != nil {
		return fmt.Errorf("--pidfilepath: %w", err)
	}
	if isRegular(o.pidPath) {
		o.closers = append(o.closers, func() { _ = os.Remove(o.pidPath) })
	}
	return nil
}

func (o *outputFiles) close() {
	for _, f := range o.closers {
		f()
	}
}

// openLogFile opens the file of --logpath for appending. Unless keep is set, an existing regular file is renamed
// first. A device, a pipe or a link is never renamed.
func openLogFile(path string, keep bool) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("--logpath %s is a folder; it must be a file", path)
	}
	if isRegular(path) && !keep {
		if err := os.Rename(path, unusedName(path+"."+time.Now().UTC().Format("2006-01-02T15-04-05"))); err != nil {
			return nil, fmt.Errorf("--logpath: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--logpath: %w", err)
	}
	return file, nil
}

// isRegular reports whether path is a regular file, and not a link to one.
func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// unusedName returns the name, with a number after it if a file with that name exists.
func unusedName(name string) string {
	unused := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(unused); err != nil {
			return unused
		}
		unused = name + "." + strconv.Itoa(n)
	}
}

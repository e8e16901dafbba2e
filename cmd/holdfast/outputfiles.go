package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// outputFiles are what a server writes besides its answers. They are opened when nothing can keep it from running any more: a
// start that fails leaves those of a server that runs as they are.
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

// openLogFile opens what --logpath names to append to it. Unless it is to be kept, a file that is there already is renamed
// first. Only a regular file is: a device, a pipe or a link is there to be written to.
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

// isRegular reports whether a name is that of a regular file, and not of a link to one.
func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// unusedName returns the name, with a number after it if there is a file of that name already.
func unusedName(name string) string {
	unused := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(unused); err != nil {
			return unused
		}
		unused = name + "." + strconv.Itoa(n)
	}
}

package main

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
)

// socketName returns mongod's name for the Unix socket of a port.
func socketName(port int) string { return "mongodb-" + strconv.Itoa(port) + ".sock" }

// removeStaleSocket removes a Unix socket on which no process listens. Any other file is not removed, and listening
// fails then.
func removeStaleSocket(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return
	}
	c, err := net.Dial("unix", path)
	switch {
	case err == nil:
		_ = c.Close()
	case errors.Is(err, syscall.ECONNREFUSED):
		_ = os.Remove(path)
	}
}

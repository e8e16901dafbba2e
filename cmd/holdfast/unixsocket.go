package main

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
)

// socketName is what mongod calls the Unix socket next to a port.
func socketName(port int) string { return "mongodb-" + strconv.Itoa(port) + ".sock" }

// removeStaleSocket removes the Unix socket of a process that died. One on which somebody listens, or a file that is no
// socket, stays and will be in the way.
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

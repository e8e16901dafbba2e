//go:build unix

package peek

import (
	"errors"
	"net"
	"syscall"
)

// At returns the state of a connection.
func At(nc net.Conn) State {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return Unknown
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return Ended
	}
	state := Ended
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			state = Silent
		case err == nil && n > 0:
			state = Bytes
		}
		return true
	})
	if err != nil {
		return Ended
	}
	return state
}

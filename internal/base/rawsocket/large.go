//go:build linux && (amd64 || arm64) && !race

package rawsocket

import "syscall"

// WriteLarge is Write for many bytes: the system takes as many at once as it can. Each time that it has taken some, took is called with their number.
func (c *conn) WriteLarge(p []byte, took func(n int)) (int, error) {
	done := 0
	var failed error
	err := c.out.await(func(fd uintptr) bool {
		for done < len(p) {
			n, err := syscall.Write(int(fd), p[done:])
			switch {
			case err == syscall.EINTR:
				continue
			case err == syscall.EAGAIN:
				return false
			case err != nil:
				failed = err
				return true
			}
			done += n
			took(n)
		}
		return true
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		err = c.opError("write", err)
	}
	return done, err
}

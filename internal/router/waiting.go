package router

import (
	"errors"
	"sync"
)

// waiting bounds the operations that wait for a member, and the memory of their messages.
type waiting struct {
	mu        sync.Mutex
	most      int
	mostBytes int64
	n         int
	bytes     int64
}

// errTooMany ends an operation that would be one too many.
var errTooMany = errors.New("too many operations wait for a member")

// enter counts an operation with a message of size bytes. The caller calls leave when it waits no longer.
func (w *waiting) enter(size int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n >= w.most || w.bytes+int64(size) > w.mostBytes {
		return errTooMany
	}
	w.n++
	w.bytes += int64(size)
	return nil
}

func (w *waiting) leave(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	w.bytes -= int64(size)
}

// count returns the number of operations that wait.
func (w *waiting) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

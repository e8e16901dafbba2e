// Package largebuffer recycles the buffers of large messages. To get such memory from the operating system, and to clear it, costs more
// than to copy a message. All functions are safe for concurrent use.
package largebuffer

import "sync"

// Least is the size, in bytes, over which a buffer is large: whatever uses a buffer again and again keeps a smaller one.
const Least = 1 << 20

// pool has elements of type *[]byte. The garbage collector empties it.
var pool sync.Pool

// Get returns an empty buffer that was recycled and has room for at least n bytes, or nil if there is none.
func Get(n int) []byte {
	if n <= Least {
		return nil
	}
	b, _ := pool.Get().(*[]byte)
	if b == nil {
		return nil
	}
	if cap(*b) < n {
		pool.Put(b)
		return nil
	}
	return *b
}

// Put takes a buffer, if it is a large one. The caller must not use its memory any more.
func Put(b []byte) {
	if cap(b) > Least {
		kept := b[:0] // only this one is moved to the heap
		pool.Put(&kept)
	}
}

// Grow returns b, in a recycled buffer if it has no room for n more bytes and there is one. b remains the caller's.
func Grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	if larger := Get(len(b) + n); larger != nil {
		return append(larger, b...)
	}
	return b
}

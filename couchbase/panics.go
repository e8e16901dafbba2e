package couchbase

import "sync/atomic"

// panics keeps a panic of the application's code in a goroutine of ours, so that it reaches the caller, who can recover it as with a
// single operation. The zero value has none. It is safe for concurrent use.
type panics struct{ first atomic.Pointer[any] }

// catch must be deferred by the goroutine.
func (p *panics) catch() {
	if v := recover(); v != nil {
		p.first.CompareAndSwap(nil, &v)
	}
}

// rethrow panics as the first goroutine that did, if one did.
func (p *panics) rethrow() {
	if v := p.first.Load(); v != nil {
		panic(*v)
	}
}

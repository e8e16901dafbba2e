package site

import (
	"sync/atomic"
	"time"
)

// repair is what ends a failure. Who is not the first to run it waits on a channel, because a bubble's clock does not go on while a
// goroutine waits for a sync.Once.
type repair struct {
	timer *time.Timer
	begun atomic.Bool
	ended chan struct{}
	do    func()
}

// run repairs once, and returns when that is done.
func (r *repair) run() {
	if !r.begun.CompareAndSwap(false, true) {
		<-r.ended
		return
	}
	defer close(r.ended)
	r.do()
}

// Later calls a function after a time, or when the failures end, if that is before.
func (b *Base) Later(after time.Duration, f func()) {
	if !b.keep(after, &repair{do: f, ended: make(chan struct{})}) {
		f()
	}
}

// keep reports whether there still is a failure that the repair ends.
func (b *Base) keep(after time.Duration, r *repair) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOver {
		return false
	}
	r.timer = time.AfterFunc(after, r.run)
	b.repairs = append(b.repairs, r)
	return true
}

// Wait waits for a time, or until the failures end, if that is before.
func (b *Base) Wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-b.over:
	}
}

// Healed returns a channel that is closed when the failures end.
func (b *Base) Healed() <-chan struct{} { return b.over }

// EndFailures repairs what is broken, and calls the function last. It does so once. Messages that come afterwards are not recorded.
func (b *Base) EndFailures(last func()) {
	b.mu.Lock()
	repairs := b.repairs
	b.repairs = nil
	first := !b.isOver
	b.isOver = true
	b.mu.Unlock()
	for _, r := range repairs {
		r.timer.Stop()
	}
	for _, r := range repairs {
		r.run()
	}
	if first {
		last()
		close(b.over)
		b.Note("cluster", "all failures end")
	}
}

package replica

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// Waiter is a wait for a condition on the set's state.
type Waiter struct {
	ready func() bool // called with the set's mutex held
	ch    chan struct{}
}

// NewWaiter returns a wait for a condition, which is called with the set's mutex held.
func NewWaiter(ready func() bool) *Waiter { return new(Waiter).Until(ready) }

// Until makes the waiter one for another condition. The one before has been waited for.
func (w *Waiter) Until(ready func() bool) *Waiter {
	if w.ready = ready; w.ch == nil {
		w.ch = make(chan struct{}, 1)
	}
	return w
}

// ErrTimeout is the error of a wait that reached its limit.
var ErrTimeout = errors.New("mongotest: the wait timed out")

// AwaitLocked waits until w is ready, and releases the mutex meanwhile. It returns testserver.ErrGone if stop is closed first, and
// ErrTimeout after limit; a negative limit is none.
func (rs *Set) AwaitLocked(w *Waiter, stop <-chan struct{}, limit time.Duration) error {
	if w.ready() {
		return nil
	}
	rs.waiters = append(rs.waiters, w)
	rs.mu.Unlock()
	err := w.wait(stop, limit)
	rs.mu.Lock()
	if err == nil {
		return nil
	}
	for i, other := range rs.waiters {
		if other == w {
			rs.waiters = append(rs.waiters[:i], rs.waiters[i+1:]...)
			return err
		}
	}
	<-w.ch // it became ready at the same time
	return nil
}

func (w *Waiter) wait(stop <-chan struct{}, limit time.Duration) error {
	var up <-chan time.Time
	if limit >= 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		up = t.C
	}
	select {
	case <-w.ch:
		return nil
	case <-stop:
		return testserver.ErrGone
	case <-up:
		return ErrTimeout
	}
}

// Changed is ChangedLocked for callers without the mutex.
func (rs *Set) Changed() {
	rs.Lock()
	defer rs.Unlock()
	rs.ChangedLocked()
}

// ChangedLocked ends the waits whose condition holds now.
func (rs *Set) ChangedLocked() {
	kept := rs.waiters[:0]
	for _, w := range rs.waiters {
		if w.ready() {
			w.ch <- struct{}{}
		} else {
			kept = append(kept, w)
		}
	}
	clear(rs.waiters[len(kept):])
	rs.waiters = kept
}

package cluster

import "sync"

// notices are calls that a change asks for, to listeners for example. Changes happen under a lock, the calls are made
// without it, one at a time and in the order of the changes: a listener hears of a pool that was cleared before it hears
// of the checkouts that fail for it.
type notices struct {
	lock    *sync.Mutex // guards the changes, and what follows
	pending []func()
	calling bool
}

// add adds a call. It is called with the lock held.
func (n *notices) add(f func()) { n.pending = append(n.pending, f) }

// deliver makes the calls, unless another goroutine is doing so, which then also makes those that were added.
func (n *notices) deliver() {
	n.lock.Lock()
	defer n.lock.Unlock()
	for !n.calling && len(n.pending) > 0 {
		f := n.pending[0]
		n.pending = n.pending[1:]
		n.unlocked(f)
	}
}

// unlocked calls f without the lock, which it is called with, even if f panics.
func (n *notices) unlocked(f func()) {
	n.calling = true
	n.lock.Unlock()
	defer func() {
		n.lock.Lock()
		n.calling = false
	}()
	f()
}

package cluster

import "sync"

// notices are calls that follow a change, for example of listeners. A change happens under a lock. The calls are made
// without the lock, one at a time and in the order of the changes: a listener gets PoolCleared before the
// CheckOutFailed events that it causes.
type notices struct {
	lock    *sync.Mutex // guards the changes and the fields below
	pending []func()
	calling bool
}

// add adds a call. It is called with the lock held.
func (n *notices) add(f func()) { n.pending = append(n.pending, f) }

// deliver makes the calls. If another goroutine is making them, that one makes the new calls too, and deliver
// returns.
func (n *notices) deliver() {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.deliverAll()
}

// deliverAll is deliver, called with the lock held. If a call panics, the calls after it are made before the panic goes on: a
// waiter may wait for one of them.
func (n *notices) deliverAll() {
	if n.calling {
		return
	}
	returned := true
	defer func() {
		if !returned {
			n.deliverAll()
		}
	}()
	for len(n.pending) > 0 {
		f := n.pending[0]
		n.pending = n.pending[1:]
		returned = false
		n.unlocked(f)
		returned = true
	}
}

// unlocked releases the lock, calls f and locks again, even if f panics.
func (n *notices) unlocked(f func()) {
	n.calling = true
	n.lock.Unlock()
	defer func() {
		n.lock.Lock()
		n.calling = false
	}()
	f()
}

package cluster

import "time"

// waitQueue has the checkouts that wait for a connection, the one that came first in front. Nothing that it does takes longer
// when ten thousand wait, because the pool's lock is held meanwhile. The zero value is empty.
type waitQueue struct {
	first, last *waiter
	length      int
	connecting  int           // those for which a connection was begun
	longest     time.Duration // that one has waited that is not in the queue any more
}

// push adds a waiter at the end.
func (q *waitQueue) push(w *waiter) {
	w.queued, w.before, w.behind = true, q.last, nil
	if q.last == nil {
		q.first = w
	} else {
		q.last.behind = w
	}
	q.last = w
	q.length++
}

// pop removes the first waiter of a queue that is not empty.
func (q *waitQueue) pop() *waiter {
	w := q.first
	q.remove(w)
	return w
}

// remove removes a waiter. It returns false if it was not there.
func (q *waitQueue) remove(w *waiter) bool {
	if w == nil || !w.queued {
		return false
	}
	if w.before == nil {
		q.first = w.behind
	} else {
		w.before.behind = w.behind
	}
	if w.behind == nil {
		q.last = w.before
	} else {
		w.behind.before = w.before
	}
	if w.queued, w.before, w.behind = false, nil, nil; w.connecting {
		q.connecting--
	}
	q.length--
	q.longest = max(q.longest, time.Since(w.since))
	return true
}

// setConnecting notes that a connection was begun for a waiter of the queue.
func (q *waitQueue) setConnecting(w *waiter) {
	w.connecting = true
	q.connecting++
}

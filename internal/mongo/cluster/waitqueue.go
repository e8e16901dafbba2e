package cluster

import "time"

// waitQueue has the checkouts that wait for a connection, the one that came first in front. Nothing that it does takes longer
// when ten thousand wait, because the pool's lock is held meanwhile. The zero value is the empty queue of a pool.
type waitQueue struct {
	first, last *waiter
	length      int
	longest     time.Duration // that one has waited that is not in the queue any more
	links       uint8         // which of the waiters' links it uses
}

// A waiter is in the queue of its pool and in that of its user's share.
const (
	ofPool uint8 = iota
	ofShare
)

// link is the place of a waiter in one queue.
type link struct {
	queued         bool
	before, behind *waiter
}

// push adds a waiter at the end.
func (q *waitQueue) push(w *waiter) {
	w.links[q.links] = link{queued: true, before: q.last}
	if q.last == nil {
		q.first = w
	} else {
		q.last.links[q.links].behind = w
	}
	q.last = w
	q.length++
}

// remove removes a waiter. It returns false if it was not there.
func (q *waitQueue) remove(w *waiter) bool {
	if w == nil || !w.links[q.links].queued {
		return false
	}
	l := w.links[q.links]
	if l.before == nil {
		q.first = l.behind
	} else {
		l.before.links[q.links].behind = l.behind
	}
	if l.behind == nil {
		q.last = l.before
	} else {
		l.behind.links[q.links].before = l.before
	}
	w.links[q.links] = link{}
	q.length--
	q.longest = max(q.longest, time.Since(w.since))
	return true
}

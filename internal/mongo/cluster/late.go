package cluster

import (
	"context"
	"time"
)

type lateLast struct{}

// LateLast returns a context whose checkouts, and those of its children, are served after all others of their user when more than half of the time until their
// deadlines has passed in the queue. In an overload each one that is served would otherwise have waited so long that no time is left for its
// operation, so nothing would be done. For a program with one purpose the order of a pool is that of its callers (Connection Monitoring and Pooling,
// "WaitQueue"); behind a router they do not know each other.
func LateLast(ctx context.Context) context.Context {
	return context.WithValue(ctx, lateLast{}, true)
}

// promptUntil returns when a checkout that begins to wait is late. It is zero if that is never.
func promptUntil(ctx context.Context, now time.Time) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok || ctx.Value(lateLast{}) == nil {
		return time.Time{}
	}
	return now.Add(deadline.Sub(now) / 2)
}

// lateAt reports whether a waiter is late.
func (w *waiter) lateAt(now time.Time) bool { return !w.prompt.IsZero() && now.After(w.prompt) }

// queue returns the queue of a waiter within its share.
func (w *waiter) queue() *waitQueue {
	if w.late {
		return &w.share.late
	}
	return &w.share.waiters
}

// first returns the waiter that is served next: the first one that is not late, or of those that are, the one that has come last and has most
// time left. It returns nil if there is none.
func (s *share) first(now time.Time) *waiter {
	for w := s.waiters.first; w != nil; w = s.waiters.first {
		if !w.lateAt(now) {
			return w
		}
		s.waiters.remove(w)
		w.late = true
		s.late.push(w)
	}
	return s.late.last
}

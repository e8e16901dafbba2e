package cluster

import (
	"sync/atomic"
	"time"
)

// listenerPatience is how long the end of a cluster waits for calls of listeners. A listener that ends the cluster itself
// waits for its own goroutine, so without a limit it would wait for ever.
const listenerPatience = time.Second

// listeners counts the calls of the application's listeners that run at present.
type listeners struct {
	endBegan       atomic.Pointer[time.Time] // nil until the end of the cluster begins
	earlier, later atomic.Int64              // calls that began before that moment, and after it
}

// begin counts a call. Its end is counted by adding -1 to the result.
func (l *listeners) begin() *atomic.Int64 {
	running := &l.earlier
	if l.endBegan.Load() != nil {
		running = &l.later
	}
	running.Add(1)
	return running
}

// ending marks the moment from which no call counts as an earlier one.
func (l *listeners) ending() {
	now := time.Now()
	l.endBegan.CompareAndSwap(nil, &now)
}

// block reports whether a call that began before the end of the cluster has been running for longer than it is waited for.
func (l *listeners) block() bool {
	return l.earlier.Load() > 0 && time.Since(*l.endBegan.Load()) >= listenerPatience
}

// Listening counts a call of a listener outside the cluster. The caller adds -1 to the result when the call has ended.
func (c *Cluster) Listening() *atomic.Int64 { return c.listeners.begin() }

// awaitBackground waits until all goroutines of the cluster have ended, or until a listener blocks one of them.
func (c *Cluster) awaitBackground() {
	if c.listeners.earlier.Load() == 0 {
		c.background.Wait()
		return
	}
	ended := make(chan struct{})
	go func() {
		c.background.Wait()
		close(ended)
	}()
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	for !c.listeners.block() {
		select {
		case <-ended:
			return
		case <-poll.C:
		}
	}
}

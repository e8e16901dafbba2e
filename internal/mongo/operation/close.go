package operation

import (
	"context"
	"time"
)

const (
	// endSessionsTimeout is the time limit of endSessions when the client is closed.
	endSessionsTimeout = time.Second
	// closingGrace is how long Close may still work after its context has ended: closing the connections takes a moment.
	closingGrace = 50 * time.Millisecond
)

// drainLimit is how long Close waits for the operations in flight if its context has no deadline: `defer client.Disconnect(ctx)` with
// context.Background() is common, and a server that is silent would hold it up for ever.
const drainLimit = 2 * time.Second

// Close waits until no operation is in flight; if ctx ends first, it interrupts them. Without a deadline it ends the selections that wait
// at once, and interrupts the operations after drainLimit. Then it ends the sessions on
// the servers and closes the cluster. When ctx has ended, it does not wait for listeners: what they delay ends after their return.
func (r *Runner) Close(ctx context.Context) {
	within(ctx, closingGrace, func() { r.close(ctx) })
}

func (r *Runner) close(ctx context.Context) {
	defer r.closed() // all this also if a listener panics
	defer r.cfg.Log.Close()
	defer r.cfg.Cluster.Interrupt()
	defer r.cfg.Cluster.Close()
	drain := ctx
	if _, ok := ctx.Deadline(); !ok {
		r.cfg.Cluster.EndSelections()
		var cancel context.CancelFunc
		drain, cancel = context.WithTimeout(ctx, drainLimit)
		defer cancel()
	}
	r.cfg.Cluster.Drain(drain)
	limited, cancel := context.WithTimeout(ctx, endSessionsTimeout)
	defer cancel()
	r.endSessions(limited)
	r.cfg.Cluster.Drain(drain) // an operation that began before Close may have checked out its connection only now
}

// within calls f, and returns at the latest when ctx has ended and the grace has passed; f goes on in the background then. A
// panic of f passes to the caller as long as the caller waits; later it ends the process, as any in the background.
func within(ctx context.Context, grace time.Duration, f func()) {
	if ctx.Done() == nil {
		f()
		return
	}
	ended, left := make(chan any), make(chan struct{})
	go func() {
		defer func() {
			panicked := recover()
			select {
			case ended <- panicked:
			case <-left:
				if panicked != nil {
					panic(panicked)
				}
			}
		}()
		f()
	}()
	panicked := await(ctx, grace, ended)
	close(left)
	if panicked != nil {
		panic(panicked)
	}
}

// await returns what ended sends, or nil if ctx has ended and nothing came during the grace.
func await(ctx context.Context, grace time.Duration, ended <-chan any) any {
	select {
	case v := <-ended:
		return v
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case v := <-ended:
		return v
	case <-timer.C:
		return nil
	}
}

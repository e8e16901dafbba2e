package testrun

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// grace is how long goroutines may go on after the end, on the bubble's clock.
const grace = time.Minute

// bubble is a run on the fake clock. Its fields are read from outside of the bubble.
type bubble struct {
	*explorer
	c      explore.Case
	r      atomic.Pointer[Run]
	id     atomic.Pointer[string]
	hung   atomic.Pointer[string] // the goroutines when the budget was used up
	failed error                  // why there are no servers; read when the bubble has ended
	ended  chan struct{}          // closed when the function has ended and the servers are closed
}

// inMemory runs the function in a bubble.
func (x *explorer) inMemory(_ context.Context, c explore.Case) explore.Outcome {
	b := &bubble{explorer: x, c: c, ended: make(chan struct{})}
	began := time.Now()
	left := make(chan any, 1) // the panic that ended the bubble, nil if it ended by itself
	go func() {               //nolint:contextcheck // a bubble does not see that a context of another one ends
		defer func() { left <- recover() }() // also if the race detector found something, and synctest ends the goroutine
		synctest.Test(x.t, func(*testing.T) { b.run() })
	}()
	o := b.await(left)
	o.Case, o.Took = c, time.Since(began)
	return o
}

// run is the first goroutine of the bubble.
func (b *bubble) run() {
	id := ownBubble()
	b.id.Store(&id)
	r, function, err := b.start(context.Background(), b.c)
	if err != nil {
		b.failed = err
		return
	}
	r.over = make(chan struct{})
	b.r.Store(r)
	ended := r.perform(func() { function(r) })
	budget := time.NewTimer(b.Budget)
	defer budget.Stop()
	select {
	case <-ended:
	case <-budget.C:
		goroutines := goroutinesOf(id)
		b.hung.Store(&goroutines)
	}
	r.end()
	<-ended
	close(b.ended)
	<-time.After(grace)
}

// await returns the outcome when the bubble has ended, or will not end.
func (b *bubble) await(left <-chan any) explore.Outcome {
	limit := time.NewTimer(b.Limits.Bubble)
	defer limit.Stop()
	select {
	case failure := <-left:
		return b.outcome(failure)
	case <-b.ended:
	case <-limit.C:
		return b.goesOn(explore.Hung, "the run has not ended after a minute of the real clock: does it wait for something outside of its bubble, or for a mutex?")
	}
	limit.Reset(b.Limits.Leftover)
	select {
	case failure := <-left:
		return b.outcome(failure)
	case <-limit.C:
		return b.goesOn(explore.Leaked, "the function has ended, and goroutines that it started go on: is every client closed?")
	}
}

// goesOn returns the outcome of a bubble that cannot be ended.
func (b *bubble) goesOn(v explore.Verdict, problem string) explore.Outcome {
	o := explore.Outcome{Verdict: v, Unstoppable: true, Problems: []string{problem}, Dump: b.goroutines()}
	if r := b.r.Load(); r != nil {
		r.fill(&o)
	}
	return o
}

func (b *bubble) goroutines() string {
	if id := b.id.Load(); id != nil {
		return goroutinesOf(*id)
	}
	return ""
}

// outcome returns the outcome of a bubble that has ended, with the panic that ended it.
func (b *bubble) outcome(failure any) (o explore.Outcome) {
	if b.failed != nil {
		o.Problems = append(o.Problems, b.failed.Error())
		return o
	}
	r := b.r.Load()
	r.fill(&o)
	ended := false
	select {
	case <-b.ended:
		ended = true
	default:
	}
	switch hung := b.hung.Load(); {
	case hung != nil:
		o.Verdict, o.Dump = explore.Hung, *hung
		o.Problems = append(o.Problems, fmt.Sprintf("the run has taken longer than its budget of %v", b.Budget))
	case failure != nil && ended:
		o.Verdict, o.Dump = explore.Leaked, b.goroutines()
		o.Problems = append(o.Problems, "the function has ended, and goroutines that it started wait for ever: is every client closed?")
	case failure != nil:
		o.Verdict, o.Dump = explore.Hung, b.goroutines()
		o.Problems = append(o.Problems, fmt.Sprintf("all goroutines of the run wait for each other (%v)", failure))
	}
	return o
}

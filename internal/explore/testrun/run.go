// Package testrun explores a function in a test, whatever the database is: it runs the function on the fake clock or the real one, keeps
// what the function says, finds hangs and leaks, and tells the test the report.
//
// Begin with explore.go. Then settings.go, run.go, inmemory.go, overtcp.go, goroutines.go.
package testrun

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Run is one run of the function, what every Exploration of a public package has. Its methods may be called from any goroutine, but for
// FailNow and Fatalf, which must be called from that of the function.
type Run struct {
	site   explore.Site
	ctx    context.Context //nolint:containedctx // it ends with the run, as that of a testing.T
	cancel context.CancelFunc
	over   chan struct{} // closed at the end of a run in memory; nil over TCP

	mu       sync.Mutex
	log      []string
	problems []string
	cleanups []func()
}

// Context returns a context that ends when the run does, or outlives its budget.
func (r *Run) Context() context.Context { return r.ctx }

// Check ends all failures, waits until the servers are as they were, and calls the function: its error is a
// mistake of the program. What is sent afterwards meets no failure. It may be called again.
func (r *Run) Check(holds func() error) {
	if err := r.site.Heal(r.ctx); err != nil {
		r.Errorf("%v", err)
		return
	}
	if err := holds(); err != nil {
		r.Errorf("the check found: %v", err)
	}
}

// Logf adds a line to the report of the run, which is shown if the run fails: for example what the program returned.
func (r *Run) Logf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.site.Note("program", "%s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, text)
}

// Errorf notes that what the program promises does not hold.
func (r *Run) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.site.Note("program", "%s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, text)
}

// Fatalf is Errorf and FailNow.
func (r *Run) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

// FailNow ends the function. The run has failed.
func (r *Run) FailNow() {
	if !r.Failed() {
		r.Errorf("the function ended itself with FailNow")
	}
	runtime.Goexit()
}

// Failed reports whether something does not hold.
func (r *Run) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.problems) > 0
}

// Cleanup registers a function that is called when the run's function has ended, the last one first.
func (r *Run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Helper does nothing. It is there for helpers that call it of a *testing.T.
func (r *Run) Helper() {}

// perform calls the function and then the cleanups on a goroutine of their own, and notes panics. The channel is closed at the end.
func (r *Run) perform(body func()) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer r.cleanUp()
		r.guard(body)
	}()
	return ended
}

// end ends the servers.
func (r *Run) end() {
	r.cancel()
	if r.over != nil {
		close(r.over)
	}
	if err := r.site.Close(); err != nil {
		r.Errorf("%v", err)
	}
}

// cleanUp calls the cleanups, also those after one that ends its goroutine.
func (r *Run) cleanUp() {
	if last := r.takeCleanup(); last != nil {
		defer r.cleanUp()
		r.guard(last)
	}
}

func (r *Run) takeCleanup() (last func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.cleanups); n > 0 {
		last, r.cleanups = r.cleanups[n-1], r.cleanups[:n-1]
	}
	return last
}

// guard calls a function, and notes its panic.
func (r *Run) guard(f func()) {
	defer func() {
		if failure := recover(); failure != nil {
			r.Errorf("panic: %v\n%s", failure, debug.Stack())
		}
	}()
	f()
}

// fill tells the outcome what the program said, and what happened.
func (r *Run) fill(o *explore.Outcome) {
	r.site.Fill(o)
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Log, o.Problems = append(o.Log, r.log...), append(o.Problems, r.problems...)
}

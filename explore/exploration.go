package explore

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Exploration is one run of the function. Its methods may be called from any goroutine, but for FailNow and Fatalf, which must be called
// from that of the function. It has what test helpers need of a *testing.T.
type Exploration struct {
	site   *mongofault.Site
	ctx    context.Context //nolint:containedctx // it ends with the run, as that of a testing.T
	cancel context.CancelFunc
	over   chan struct{} // closed at the end of a run in memory; nil over TCP

	mu       sync.Mutex
	log      []string
	problems []string
	cleanups []func()
}

// URI returns the connection string of the run's servers.
func (e *Exploration) URI() string { return e.site.Deployment().URI() }

// Dialer returns what connects to the run's servers: with [InMemory] the only way to reach them.
func (e *Exploration) Dialer() *Dialer { return &Dialer{e.site.Deployment().Dialer(), e.over} }

// Deployment returns the run's servers, to prepare data that no failure may concern, or to read what they have.
func (e *Exploration) Deployment() *mongotest.Deployment { return e.site.Deployment() }

// Context returns a context that ends when the run does, or outlives its budget.
func (e *Exploration) Context() context.Context { return e.ctx }

// Check ends all failures, waits until there is a primary and every member has every write, and calls the function: its error is a
// mistake of the program. What is sent afterwards meets no failure. It may be called again.
func (e *Exploration) Check(holds func() error) {
	if err := e.site.Heal(e.ctx); err != nil {
		e.Errorf("%v", err)
		return
	}
	if err := holds(); err != nil {
		e.Errorf("the check found: %v", err)
	}
}

// Logf adds a line to the report of the run, which is shown if the run fails: for example what the program returned.
func (e *Exploration) Logf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.site.Note("program", "%s", text)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, text)
}

// Errorf notes that what the program promises does not hold.
func (e *Exploration) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.site.Note("program", "%s", text)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.problems = append(e.problems, text)
}

// Fatalf is Errorf and FailNow.
func (e *Exploration) Fatalf(format string, args ...any) {
	e.Errorf(format, args...)
	e.FailNow()
}

// FailNow ends the function. The run has failed.
func (e *Exploration) FailNow() {
	if !e.Failed() {
		e.Errorf("the function ended itself with FailNow")
	}
	runtime.Goexit()
}

// Failed reports whether something does not hold.
func (e *Exploration) Failed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.problems) > 0
}

// Cleanup registers a function that is called when the run's function has ended, the last one first.
func (e *Exploration) Cleanup(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cleanups = append(e.cleanups, f)
}

// Helper does nothing. It is there for helpers that call it of a *testing.T.
func (e *Exploration) Helper() {}

// perform calls the function and then the cleanups on a goroutine of their own, and notes panics. The channel is closed at the end.
func (e *Exploration) perform(body func(*Exploration)) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer e.cleanUp()
		e.guard(func() { body(e) })
	}()
	return ended
}

// cleanUp calls the cleanups, also those after one that ends its goroutine.
func (e *Exploration) cleanUp() {
	if last := e.takeCleanup(); last != nil {
		defer e.cleanUp()
		e.guard(last)
	}
}

func (e *Exploration) takeCleanup() (last func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.cleanups); n > 0 {
		last, e.cleanups = e.cleanups[n-1], e.cleanups[:n-1]
	}
	return last
}

// guard calls a function, and notes its panic.
func (e *Exploration) guard(f func()) {
	defer func() {
		if failure := recover(); failure != nil {
			e.Errorf("panic: %v\n%s", failure, debug.Stack())
		}
	}()
	f()
}

// fill tells the outcome what the program said, and what happened.
func (e *Exploration) fill(o *explore.Outcome) {
	e.site.Fill(o)
	e.mu.Lock()
	defer e.mu.Unlock()
	o.Log, o.Problems = append(o.Log, e.log...), append(o.Problems, e.problems...)
}

var _ mongotest.Tester = (*Exploration)(nil)

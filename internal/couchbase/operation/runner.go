package operation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// Config has the settings of a [Runner].
type Config struct {
	// Strategy is used for requests without one of their own. Nil: retry.BestEffort with RFC 0049's delays.
	Strategy retry.Strategy
	// Observer is told of every failed attempt, every decision and every end. Nil: nobody is; then a success costs less. The context
	// that it gets is that of the run: see [Identifier].
	Observer retry.Observer
	// Listens, if set, is asked before each operation whether Observer wants to be told of it.
	Listens func() bool
	// Tracer is told of the attempts that are sent. Nil: nobody is.
	Tracer Tracer
}

// Runner runs operations. It is safe for concurrent use.
type Runner struct {
	observed *retry.Engine // with the observer, which may keep the runs; nil: there is none
	engine   *retry.Engine // of the operations that nobody observes
	listens  func() bool
	tracer   Tracer
	runs     sync.Pool
}

// NewRunner returns a runner, or an error that names the option and its rule.
func NewRunner(c Config) (*Runner, error) {
	strategy := c.Strategy
	if strategy == nil {
		strategy = retry.BestEffort(retry.BackoffOptions{})
	}
	options := retry.Options{Strategy: strategy, DeadlineMode: retry.DeadlineCapDelay}
	engine, err := retry.New(options)
	if err != nil {
		return nil, fmt.Errorf("operation: %w", err)
	}
	r := &Runner{engine: engine, listens: c.Listens, tracer: c.Tracer}
	if options.Observer = c.Observer; c.Observer != nil {
		if r.observed, err = retry.New(options); err != nil {
			return nil, fmt.Errorf("operation: %w", err)
		}
	}
	r.runs.New = func() any { return newRun(r) }
	return r, nil
}

// isObserved reports whether the observer wants to be told of an operation that begins now.
func (r *Runner) isObserved() bool {
	return r.observed != nil && (r.listens == nil || r.listens())
}

// Run runs an operation. It ends with an error when timeout has passed, unless it is 0, or when ctx ends. On success the
// result is in *result; otherwise it returns an *Error.
func (r *Runner) Run(ctx context.Context, timeout time.Duration, op *Operation, result *Result) error {
	run := r.runs.Get().(*run)
	run.begin(ctx, timeout, op)
	engine := r.engine
	if r.isObserved() {
		engine = r.observed
	}
	if err := run.do(engine); err != nil { //nolint:contextcheck // the run is the context of its operation
		return run.final(err)
	}
	run.result(result)
	if !run.troubled && engine == r.engine { // otherwise a strategy or an observer may have kept it
		run.empty()
		r.runs.Put(run)
	}
	return nil
}

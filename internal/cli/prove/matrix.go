package prove

import (
	"context"
	"sync"
	"time"
)

// Matrix runs every strategy with every failure.
type Matrix struct {
	Strategies []Strategy
	Failures   []Failure
	Settings   Settings
	Dial       Dial // of MongoDB's driver
	Deployment Deployment
	// Progress, if not nil, is called when a cell begins, and with its result when it ends. It is not called
	// concurrently.
	Progress func(Event)
}

// Event reports a cell that begins or has ended.
type Event struct {
	Strategy Strategy
	Failure  Failure
	Result   *Result // nil if the cell begins, or is to run again
	// Disturbed means that the machine disturbed the cell. It runs again, alone, when the others have ended.
	Disturbed bool
	Ended     int // number of cells that have ended
	Cells     int
}

// Report is the result of a matrix.
type Report struct {
	Backend    *Backend
	Settings   Settings
	Deployment string
	Strategies []Strategy
	Failures   []Failure
	Results    []Result      // ordered by failure, then by strategy
	Explored   *Explored     // nil if nothing was explored
	Took       time.Duration // of the cells
	// Interrupted means that the run was ended early. Not all cells have a verdict.
	Interrupted bool
}

// Run runs all cells, at most Settings.Parallel at a time, and then those again, one after another, that the machine disturbed. It returns an error only for invalid settings. The error of a cell
// is in its result.
func (m Matrix) Run(ctx context.Context) (*Report, error) {
	if err := m.Settings.Check(); err != nil {
		return nil, err
	}
	r := &Report{
		Backend: m.Deployment.Backend(), Settings: m.Settings, Deployment: m.Deployment.describe(), Strategies: m.Strategies, Failures: m.Failures,
		Results: make([]Result, len(m.Failures)*len(m.Strategies)),
	}
	began := time.Now()
	m.runAll(ctx, r)
	r.Took = time.Since(began)
	r.Interrupted = ctx.Err() != nil
	return r, nil
}

// maxRepeats is the largest number of repeats of a cell whose server ended, or whose load ended before its faults had struck often enough.
const maxRepeats = 2

// run is a matrix that runs.
type run struct {
	Matrix
	report *Report
	probes probes

	mu    sync.Mutex
	ended int
}

func (m Matrix) runAll(ctx context.Context, report *Report) {
	r := &run{Matrix: m, report: report}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	r.probes.run(watching)
	for _, at := range r.sideBySide(watching, ctx) {
		r.alone(ctx, at)
	}
}

// sideBySide runs all cells. It returns those that the machine disturbed, and that are to run again.
func (r *run) sideBySide(watching, ctx context.Context) (disturbed []int) {
	g := newGate(r.Settings.Parallel)
	go g.follow(watching, &r.probes, r.Settings.Timing.tolerance())
	var group sync.WaitGroup
	for _, at := range r.order() {
		g.enter()
		group.Go(func() {
			defer g.leave()
			if !r.settle(ctx, at) {
				r.mu.Lock()
				defer r.mu.Unlock()
				disturbed = append(disturbed, at)
			}
		})
	}
	group.Wait()
	return disturbed
}

// settle runs a cell for the first time. It reports false if the cell is to run again.
func (r *run) settle(ctx context.Context, at int) bool {
	r.tell(at, Event{})
	result := r.cell(ctx, at, 0, r.Settings)
	r.report.Results[at] = result
	if result.Busy && r.Settings.RunsAlone > 0 && ctx.Err() == nil {
		r.tell(at, Event{Disturbed: true})
		return false
	}
	r.tell(at, Event{Result: &result})
	return true
}

// alone runs a cell that the machine disturbed again, while no other runs, and with longer times.
func (r *run) alone(ctx context.Context, at int) {
	r.tell(at, Event{})
	result := r.report.Results[at]
	for n := 0; n < r.Settings.RunsAlone && result.Busy && ctx.Err() == nil; n++ {
		result = r.cell(ctx, at, result.Repeats+1, r.Settings.alone(n))
		result.Alone = true
	}
	r.report.Results[at] = result
	r.tell(at, Event{Result: &result})
}

// cell runs a cell that was run some times before. It repeats the cell, at most maxRepeats times, if a real server ended during the run, or if the
// load ended before its faults had struck often enough. It does not if the machine disturbed the cell.
func (r *run) cell(ctx context.Context, at, before int, settings Settings) Result {
	s, f := r.Strategies[at%len(r.Strategies)], r.Failures[at/len(r.Strategies)]
	for repeats := before; ; repeats++ {
		began := time.Now()
		result := runCell(ctx, s, f, repeats, settings, r.Dial, r.Deployment)
		result.Repeats = repeats
		result.disturb(r.probes.longest(began, time.Now()), settings.Timing.tolerance())
		again := result.serverEnded || result.NotShown != ""
		if !again || result.Busy || repeats == before+maxRepeats || ctx.Err() != nil {
			return result
		}
	}
}

// tell reports an event of a cell.
func (r *run) tell(at int, e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Result != nil {
		r.ended++
	}
	e.Strategy, e.Failure = r.Strategies[at%len(r.Strategies)], r.Failures[at/len(r.Strategies)]
	if e.Ended, e.Cells = r.ended, len(r.report.Results); r.Progress != nil {
		r.Progress(e)
	}
}

// order returns the indexes of the cells, the slowest first: mixed failures, then failures of the cluster.
func (m Matrix) order() []int {
	var slow, medium, quick []int
	for f, failure := range m.Failures {
		for s := range m.Strategies {
			at := f*len(m.Strategies) + s
			switch {
			case len(failure.faults) > 1:
				slow = append(slow, at)
			case failure.faults[0].breaksCluster(), failure.faults[0] == Outage:
				medium = append(medium, at)
			default:
				quick = append(quick, at)
			}
		}
	}
	return append(append(slow, medium...), quick...)
}

// Disturbed returns the results without a verdict because the machine was busy. They are neither as expected nor unexpected.
func (r *Report) Disturbed() []Result {
	var list []Result
	for i := range r.Results {
		if r.Results[i].Busy {
			list = append(list, r.Results[i])
		}
	}
	return list
}

// Unexpected returns the results that are not as expected.
func (r *Report) Unexpected() []Result {
	var list []Result
	for i := range r.Results {
		if one := &r.Results[i]; !one.AsExpected() && !one.Busy {
			list = append(list, r.Results[i])
		}
	}
	return list
}

// Shown returns the number of cells that have a verdict.
func (r *Report) Shown() int {
	n := 0
	for i := range r.Results {
		if r.Results[i].shown() {
			n++
		}
	}
	return n
}

// at returns the cell of a strategy and a failure.
func (r *Report) at(strategy, failure int) *Result {
	return &r.Results[failure*len(r.Strategies)+strategy]
}

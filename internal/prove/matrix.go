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
	Result   *Result // nil if the cell begins
	Ended    int     // number of cells that have ended
	Cells    int
}

// Report is the result of a matrix.
type Report struct {
	Backend    *Backend
	Settings   Settings
	Deployment string
	Strategies []Strategy
	Failures   []Failure
	Results    []Result // ordered by failure, then by strategy
	Took       time.Duration
	// Interrupted means that the run was ended early. Not all cells have a verdict.
	Interrupted bool
}

// Run runs all cells, Settings.Parallel at a time. It returns an error only for invalid settings. The error of a cell
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

func (m Matrix) runAll(ctx context.Context, r *Report) {
	places := make(chan struct{}, m.Settings.Parallel)
	var group sync.WaitGroup
	var mu sync.Mutex
	ended := 0
	var still stalls
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go still.watch(watching)
	tell := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Result != nil {
			ended++
		}
		if e.Ended, e.Cells = ended, len(r.Results); m.Progress != nil {
			m.Progress(e)
		}
	}
	for _, at := range m.order() {
		s, f := m.Strategies[at%len(m.Strategies)], m.Failures[at/len(m.Strategies)]
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			tell(Event{Strategy: s, Failure: f})
			r.Results[at] = m.runWithoutStall(ctx, s, f, &still)
			tell(Event{Strategy: s, Failure: f, Result: &r.Results[at]})
		})
	}
	group.Wait()
}

// runWithoutStall runs a cell. It repeats the cell, at most maxRepeats times, if the machine stalled or a real server ended during the run, or
// if the load ended before its faults had struck often enough.
func (m Matrix) runWithoutStall(ctx context.Context, s Strategy, f Failure, still *stalls) Result {
	for repeats := 0; ; repeats++ {
		began := time.Now()
		result := runCell(ctx, s, f, repeats, m.Settings, m.Dial, m.Deployment)
		result.Repeats = repeats
		longest := still.longestSince(began)
		stalled := longest >= stallLimit(m.Settings.Timing)
		if !stalled && !result.serverEnded && result.NotShown == "" || ctx.Err() != nil || result.Unavailable != "" {
			return result
		}
		if stalled {
			result.StalledSeconds = longest.Seconds()
		}
		if repeats == maxRepeats {
			return result
		}
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

// Unexpected returns the results that are not as expected.
func (r *Report) Unexpected() []Result {
	var list []Result
	for i := range r.Results {
		if !r.Results[i].AsExpected() {
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

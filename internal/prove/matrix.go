package prove

import (
	"context"
	"sync"
	"time"
)

// Matrix is strategies against failures.
type Matrix struct {
	Strategies []Strategy
	Failures   []Failure
	Settings   Settings
	Dial       Dial
	Deployment Deployment
	// Progress is told of each cell that begins and, with its result, of each that ends. It is not called concurrently. It
	// may be nil.
	Progress func(Event)
}

// Event is a cell that begins or has ended.
type Event struct {
	Strategy Strategy
	Failure  Failure
	Result   *Result // nil: it begins
	Ended    int     // how many cells have
	Cells    int
}

// Report is a matrix that was run.
type Report struct {
	Settings   Settings
	Deployment string
	Strategies []Strategy
	Failures   []Failure
	Results    []Result // failure by failure, each in the order of the strategies
	Took       time.Duration
	// Interrupted: it was ended early, and cells are missing.
	Interrupted bool
}

// Run runs all cells, so many side by side as the settings say, and returns what they have shown. The error is about the
// settings; what goes wrong in a cell stands in its result.
func (m Matrix) Run(ctx context.Context) (*Report, error) {
	if err := m.Settings.Check(); err != nil {
		return nil, err
	}
	r := &Report{
		Settings: m.Settings, Deployment: m.Deployment.describe(), Strategies: m.Strategies, Failures: m.Failures,
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
			r.Results[at] = m.runSteadily(ctx, s, f, &still)
			tell(Event{Strategy: s, Failure: f, Result: &r.Results[at]})
		})
	}
	group.Wait()
}

// runSteadily runs a cell, again if the machine stood still meanwhile.
func (m Matrix) runSteadily(ctx context.Context, s Strategy, f Failure, still *stalls) Result {
	for repeats := 0; ; repeats++ {
		began := time.Now()
		result := runCell(ctx, s, f, repeats, m.Settings, m.Dial, m.Deployment)
		result.Repeats = repeats
		longest := still.longestSince(began)
		if longest < stallLimit(m.Settings.Timing) || ctx.Err() != nil || result.Unavailable != "" {
			return result
		}
		result.StalledSeconds = longest.Seconds()
		if repeats == maxRepeats {
			return result
		}
	}
}

// order returns the cells' places, those that take longest first: mixed failures, then those that break the cluster.
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

// Unexpected returns the cells that have not shown what they were expected to show.
func (r *Report) Unexpected() []Result {
	var list []Result
	for i := range r.Results {
		if !r.Results[i].AsExpected() {
			list = append(list, r.Results[i])
		}
	}
	return list
}

// at returns the cell of a strategy and a failure.
func (r *Report) at(strategy, failure int) *Result {
	return &r.Results[failure*len(r.Strategies)+strategy]
}

package engine

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// load is how a sample is taken: operations in all, divided among goroutines that have a service each.
type load struct {
	goroutines int
	operations int
	fails      uint64 // which calls of the services
}

// sample returns the wall time from the start of all goroutines to the end of the last, for each operation, in ns. It
// collects the garbage first, so that no sample pays for the one before.
func (l load) sample(t *testing.T, lib library) float64 {
	t.Helper()
	services := make([]*service, l.goroutines)
	errs := make([]error, l.goroutines)
	each := l.operations / l.goroutines
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range services {
		s := &service{fails: l.fails}
		services[i] = s
		done.Go(func() {
			<-start
			errs[i] = lib.run(s, each)
		})
	}
	runtime.GC()
	began := time.Now()
	close(start)
	done.Wait()
	took := time.Since(began)
	for i, s := range services {
		checkCalls(t, s, each, errs[i])
	}
	return float64(took.Nanoseconds()) / float64(each*l.goroutines)
}

// checkCalls checks that the measured work was done: n operations that succeeded, by as many calls as that takes.
func checkCalls(t *testing.T, s *service, n int, err error) {
	t.Helper()
	want := uint64(n)
	if s.fails == first {
		want *= attempts
	}
	if err != nil || s.calls != want {
		t.Fatalf("%d operations made %d calls, want %d, and ended with %v", n, s.calls, want, err)
	}
}

// allocations returns how many an operation makes.
func allocations(t *testing.T, lib library, fails uint64) float64 {
	t.Helper()
	const n = 1000 // a run of so many makes one function for the library
	s := &service{fails: fails}
	var err error
	perRun := testing.AllocsPerRun(10, func() {
		s.calls = 0
		err = lib.run(s, n)
	})
	checkCalls(t, s, n, err)
	return perRun / n
}

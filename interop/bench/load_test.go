package bench

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// load is how a client is used: by how many goroutines on as many connections, and with what context.
type load struct {
	workers  int
	deadline bool
}

// operations is the least number that a sample has.
const operations = 20_000

// run makes op happen at least n times and returns how often it did.
func (l load) run(t *testing.T, op operation, n int) int {
	t.Helper()
	each := (n + l.workers - 1) / l.workers
	errs := make(chan error, l.workers)
	var wg sync.WaitGroup
	for worker := range l.workers {
		wg.Go(func() {
			for range each {
				if err := l.once(op, worker); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
	return each * l.workers
}

// once runs op as a program does: a context with a deadline is made for each operation.
func (l load) once(op operation, worker int) error {
	ctx := context.Background()
	if l.deadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
	}
	return op(ctx, worker)
}

// floor is the load under which the raw client is measured, with and without a deadline the same: a bare socket has no
// contexts, so that what a deadline costs shows whole in the ratio.
func (l load) floor() load { return load{workers: l.workers} }

// cost returns the process's user and system time for one of the operations, after a warm-up.
func (l load) cost(t *testing.T, op operation) time.Duration {
	t.Helper()
	l.run(t, op, operations/20)
	runtime.GC() // what the client before left is not this one's
	before := cpuTime(t)
	n := l.run(t, op, operations)
	return (cpuTime(t) - before) / time.Duration(n)
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// allocations returns how many allocations one operation makes, in a process where nothing else happens.
func (l load) allocations(t *testing.T, op operation) float64 {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l.run(t, op, operations/20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := l.run(t, op, operations)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}

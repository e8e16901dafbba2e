package bench

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/instructions"
)

// load is how a client is used: by how many goroutines on as many connections, and with what context.
type load struct {
	workers  int
	deadline bool
}

// operations is the least number that a sample has.
const operations = 20_000

// sampled returns how many operations a sample has: with -short a tenth, for then no time is judged.
func sampled(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

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

// cost is what one operation takes of the process.
type cost struct {
	cpu          time.Duration // user and system time
	instructions float64       // in user space; zero without counters
	allocations  float64
}

// cost returns what one of some operations costs, after a warm-up. Without a counter it counts no instructions.
func (l load) cost(t *testing.T, counter *instructions.Counter, op operation, times int) cost {
	t.Helper()
	l.run(t, op, times/20)
	runtime.GC() // what the client before left is not this one's
	before := usage(t, counter)
	n := float64(l.run(t, op, times))
	after := usage(t, counter)
	return cost{
		cpu:          time.Duration(float64(after.cpu-before.cpu) / n),
		instructions: (after.instructions - before.instructions) / n,
		allocations:  (after.allocations - before.allocations) / n,
	}
}

// usage is what the process has used so far.
func usage(t *testing.T, counter *instructions.Counter) cost {
	t.Helper()
	c := cost{cpu: cpuTime(t), allocations: mallocs()}
	if counter != nil {
		n, err := counter.Read()
		if err != nil {
			t.Fatal(err)
		}
		c.instructions = float64(n)
	}
	return c
}

func mallocs() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Mallocs)
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return used(u)
}

// allocations returns how many allocations one operation makes, in a process where nothing else happens.
func (l load) allocations(t *testing.T, op operation) float64 {
	t.Helper()
	return l.allocationsOf(t, op, sampled(operations))
}

// allocationsOf is allocations with another number of operations.
func (l load) allocationsOf(t *testing.T, op operation, times int) float64 {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l.run(t, op, max(1, times/20))
	before := mallocs()
	n := l.run(t, op, times)
	return (mallocs() - before) / float64(n)
}

// used returns the user and system time.
func used(u syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

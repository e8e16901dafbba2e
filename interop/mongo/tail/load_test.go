package tail

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load is how many goroutines do operations, each the next as soon as the last has ended, and with what context.
type load struct {
	goroutines int
	deadline   bool
}

// limit is the deadline that each operation gets: far away, as in most programs, so that it costs and does not end anything.
const limit = time.Minute

// sample is what one run of a load measured.
type sample struct {
	waits   []time.Duration // of all operations, from the least to the longest
	perEach []int           // the operations of each goroutine
}

// run lets the goroutines do n operations together. Who is faster does more of them: nobody has a share of his own.
func (l load) run(op findOne, n int) (sample, error) {
	runtime.GC() // what the client before left is not this one's
	var left atomic.Int64
	left.Store(int64(n))
	waits, errs := make([][]time.Duration, l.goroutines), make([]error, l.goroutines)
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(l.goroutines)
	for i := range l.goroutines {
		waits[i] = make([]time.Duration, 0, 4*n/l.goroutines)
		done.Go(func() {
			ready.Done()
			<-begin
			for left.Add(-1) >= 0 && errs[i] == nil {
				began := time.Now()
				errs[i] = l.once(op)
				waits[i] = append(waits[i], time.Since(began))
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	return newSample(waits), errors.Join(errs...)
}

// once runs op as a program does: a context with a deadline is made for each operation.
func (l load) once(op findOne) error {
	ctx := context.Background()
	if l.deadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return op(ctx)
}

func newSample(waits [][]time.Duration) sample {
	var s sample
	for _, one := range waits {
		s.perEach = append(s.perEach, len(one))
		s.waits = append(s.waits, one...)
	}
	slices.Sort(s.waits)
	return s
}

// percentile returns the wait that p percent of the operations do not exceed.
func (s sample) percentile(p float64) time.Duration {
	return s.waits[min(int(p/100*float64(len(s.waits))), len(s.waits)-1)]
}

// unfairness returns the operations of the goroutine that did most over those of the one that did least; a goroutine that did
// none counts as one that did one.
func (s sample) unfairness() float64 {
	return float64(slices.Max(s.perEach)) / float64(max(1, slices.Min(s.perEach)))
}

// longest returns the longest wait over the median.
func (s sample) longest() float64 {
	return float64(s.waits[len(s.waits)-1]) / float64(s.percentile(50))
}

package javascript

import (
	"runtime/metrics"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

const (
	// pollInterval is how often a call is asked whether it may go on.
	pollInterval = 5 * time.Millisecond
	// mostMemory is by how many bytes the heap may grow in one call. It is about a real server's jsHeapLimitMB.
	mostMemory = 1 << 30
	// longestText is how long a text may be that one call of a built-in function makes.
	longestText = 64 << 20
)

// watch interrupts one call.
type watch struct {
	engine *Engine
	heap   uint64 // at the beginning

	mu    sync.Mutex
	done  bool
	timer *time.Timer
}

// bounded runs code and interrupts it when the command must end.
func (e *Engine) bounded(run func() error) (err error) {
	if err := e.Work.Ask(); err != nil {
		return err
	}
	e.vm.ClearInterrupt()
	e.stop = make(chan struct{})
	w := &watch{engine: e}
	w.mu.Lock()
	w.timer = time.AfterFunc(pollInterval, w.look)
	w.mu.Unlock()
	thrown := e.vm.Try(func() { err = run() })
	w.end() // from here on the Work is the caller's again
	if thrown != nil {
		err = thrown
	}
	if ended := e.Work.Err(); ended != nil {
		return ended
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// look runs beside the call. The mutex lets it use the Work, whose owner waits for the call.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	err := w.engine.Work.Ask()
	if err == nil {
		err = w.checkMemory()
	}
	if err != nil {
		w.done = true
		w.engine.vm.Interrupt(err)
		close(w.engine.stop)
		return
	}
	w.timer.Reset(pollInterval)
}

func (w *watch) checkMemory() error {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	now := sample[0].Value.Uint64()
	if w.heap == 0 {
		w.heap = now
	}
	if now > w.heap+w.engine.memory {
		return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "Out of memory")
	}
	return nil
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.timer.Stop()
}

// checkStopped ends a conversion whose call was interrupted. The Work is the watch's meanwhile.
func (e *Engine) checkStopped() {
	select {
	case <-e.stop:
		panic(e.vm.NewTypeError("the call was interrupted"))
	default:
	}
}

// sleep waits, or until the call is interrupted.
func (e *Engine) sleep(ms int64) {
	if e.MayWait != nil && !e.MayWait() {
		panic(e.vm.NewTypeError("sleep is not possible in a transaction that has written"))
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-e.stop:
	}
}

// checkLength refuses a text that a built-in function is to make.
func (e *Engine) checkLength(length float64) {
	if length > longestText {
		panic(e.vm.NewTypeError("invalid string length"))
	}
}

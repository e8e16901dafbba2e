package failures

import (
	"context"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"
)

// poolWatch listens to a client's pools. A hook is called for one event only, in the goroutine that emits it.
type poolWatch struct {
	cleared                          chan struct{}
	checkOutStarted, checkOutRefused atomic.Pointer[func()]
}

const manyEvents = 100 // more than any script sees

func newPoolWatch() *poolWatch {
	return &poolWatch{cleared: make(chan struct{}, manyEvents)}
}

func (w *poolWatch) onCheckOutStarted(f func()) { w.checkOutStarted.Store(&f) }
func (w *poolWatch) onCheckOutFailed(f func())  { w.checkOutRefused.Store(&f) }

func (w *poolWatch) monitor() *event.PoolMonitor {
	return &event.PoolMonitor{Event: func(e *event.PoolEvent) {
		switch e.Type {
		case event.ConnectionPoolCleared:
			w.cleared <- struct{}{}
		case event.ConnectionCheckOutStarted:
			callOnce(&w.checkOutStarted)
		case event.ConnectionCheckOutFailed:
			callOnce(&w.checkOutRefused)
		}
	}}
}

func callOnce(hook *atomic.Pointer[func()]) {
	if f := hook.Swap(nil); f != nil {
		(*f)()
	}
}

// await may be called in any goroutine.
func await(ctx context.Context, t *testing.T, happened <-chan struct{}, otherwise string) {
	t.Helper()
	select {
	case <-happened:
	case <-ctx.Done():
		t.Error(otherwise)
	}
}

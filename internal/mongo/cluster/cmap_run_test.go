package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// cmapRun runs one case of the published suite: a pool without a monitor, and the threads of the case.
type cmapRun struct {
	t      *testing.T
	server *Server
	heard  *listener

	threads map[string]*cmapThread
	mu      sync.Mutex
	labels  map[string]*Conn
	out     map[*Conn]bool
}

// cmapThread runs its operations in order. When the channel of operations is closed, it sends its first error to
// done.
type cmapThread struct {
	operations chan cmapOperation
	done       chan error
	joined     bool
}

func newCmapRun(t *testing.T, spec *cmapSpec) *cmapRun {
	r := &cmapRun{
		t: t, heard: newListener(),
		threads: make(map[string]*cmapThread), labels: make(map[string]*Conn), out: make(map[*Conn]bool),
	}
	p := &peer{hello: standalone()}
	if delay := milliseconds(spec.FailPoint.Data.BlockTimeMS); delay > 0 {
		p.script = func(*question) bool {
			sleep(t.Context(), delay, nil)
			return false
		}
	}
	if code := spec.FailPoint.Data.ErrorCode; code != 0 {
		p.script = refusing(code, "the fail point's error")
	}
	r.server = bare(t, p, func(cfg *Config) {
		cfg.MaxPoolSize = spec.Options.MaxPoolSize
		cfg.MinPoolSize = spec.Options.MinPoolSize
		cfg.MaxConnecting = spec.Options.MaxConnecting
		cfg.MaxConnIdleTime = milliseconds(spec.Options.MaxIdleTimeMS)
		cfg.WaitQueueTimeout = milliseconds(spec.Options.WaitQueueTimeoutMS)
		cfg.PoolMonitor = r.heard.monitor()
	})
	if c := r.server.cluster; c.cfg.maintained() {
		c.background.Go(func() { r.server.pool.maintain(c.backgroundCtx) })
	}
	return r
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// operations runs the main thread's operations up to the first error.
func (r *cmapRun) operations(list []cmapOperation) error {
	for _, op := range list {
		if op.Thread != "" {
			r.threads[op.Thread].operations <- op
			continue
		}
		if err := r.do(op); err != nil {
			return err
		}
	}
	return nil
}

func (r *cmapRun) do(op cmapOperation) error {
	switch op.Name {
	case "start":
		r.begin(op.Target)
	case "wait":
		sleep(context.Background(), milliseconds(op.MS), nil)
	case "waitForThread":
		return r.join(r.threads[op.Target])
	case "waitForEvent":
		r.waitForEvent(op)
	case "checkOut":
		return r.checkOut(op.Label)
	case "checkIn":
		r.checkIn(op.Connection)
	case "clear":
		r.server.pool.clear(errDown, op.Interrupt).run()
	case "close":
		r.server.pool.close().run()
	case "ready":
		r.server.pool.makeReady().run()
	default:
		r.t.Errorf("the operation %q is not supported", op.Name)
	}
	return nil
}

func (r *cmapRun) begin(name string) {
	thread := &cmapThread{operations: make(chan cmapOperation, 10), done: make(chan error, 1)}
	r.threads[name] = thread
	go func() {
		var first error
		for op := range thread.operations {
			if err := r.do(op); first == nil {
				first = err
			}
		}
		thread.done <- first
	}()
}

func (r *cmapRun) join(thread *cmapThread) error {
	if thread.joined {
		return nil
	}
	thread.joined = true
	close(thread.operations)
	return <-thread.done
}

func (r *cmapRun) waitForEvent(op cmapOperation) {
	limit := 10 * time.Second
	if op.TimeoutMS > 0 {
		limit = milliseconds(op.TimeoutMS)
	}
	timeout := time.After(limit)
	for {
		events, more := r.heard.all()
		n := 0
		for _, e := range events {
			if e.Type == op.Event {
				n++
			}
		}
		if n >= op.Count {
			return
		}
		select {
		case <-more:
		case <-timeout:
			r.t.Errorf("there were %d of %d events %s after %v", n, op.Count, op.Event, limit)
			return
		}
	}
}

func (r *cmapRun) checkOut(label string) error {
	c, err := r.server.CheckOut(context.Background(), nil)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out[c] = true
	if label != "" {
		r.labels[label] = c
	}
	return nil
}

func (r *cmapRun) checkIn(label string) {
	r.mu.Lock()
	c := r.labels[label]
	delete(r.out, c)
	r.mu.Unlock()
	r.server.CheckIn(c)
}

// cleanUp checks in all connections and joins all threads.
func (r *cmapRun) cleanUp() {
	for {
		r.mu.Lock()
		out := r.out
		r.out = make(map[*Conn]bool)
		r.mu.Unlock()
		for c := range out {
			r.server.CheckIn(c)
		}
		if len(out) == 0 && r.allJoined() {
			return
		}
	}
}

// allJoined joins one thread and returns false, or returns true if all threads are joined.
func (r *cmapRun) allJoined() bool {
	for _, thread := range r.threads {
		if !thread.joined {
			_ = r.join(thread)
			return false
		}
	}
	return true
}

func (spec *cmapSpec) checkError(t *testing.T, err error) {
	t.Helper()
	if spec.Error == nil {
		if err != nil {
			t.Fatalf("error: %v", err)
		}
		return
	}
	same := false
	var exhausted *CheckOutError
	switch spec.Error.Type {
	case "PoolClosedError":
		same = errors.Is(err, ErrPoolClosed)
	case "WaitQueueTimeoutError":
		same = errors.As(err, &exhausted) && errors.Is(err, context.DeadlineExceeded)
	}
	if !same {
		t.Fatalf("error %v, want a %s", err, spec.Error.Type)
	}
}

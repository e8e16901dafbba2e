package prove

import (
	"context"
	"fmt"
	"sync"
)

// referee decides when a planned fault may fire. One operation must not meet two troubles, because no rule of one retry
// can survive that and it is not the experiment:
//
//   - A fault of one message fires at once while the cluster is whole, and is skipped otherwise.
//   - A fault of the whole cluster first waits until no other operation is in trouble; meanwhile nothing else fires.
//   - After it nothing fires until every writer has had an operation acknowledged that began after the cluster was whole
//     again; at the beginning, until every writer has had one.
//
// Meanwhile writers that have nothing to show wait for the others, so that the load follows the faults and not the clock.
type referee struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	state    refereeState
	claimant OpID
	troubled map[OpID]bool
	stage    int // counts what writers have to show
	begun    []int
	shown    []int // the stage that a writer has shown; gone: it has left
	asking   bool  // stage is to be shown by all writers
}

type refereeState uint8

const (
	whole   refereeState = iota // anything may fire
	claimed                     // a cluster fault is about to fire
	broken                      // it has fired, or the load begins, and not all writers have been served
	over                        // nothing fires any more
)

// gone is the stage of writers that have left.
const gone = int(^uint(0) >> 1)

func newReferee(writers int) *referee {
	return &referee{
		state:    broken,
		changed:  make(chan struct{}),
		troubled: make(map[OpID]bool),
		begun:    make([]int, writers),
		shown:    make([]int, writers),
	}
}

func (r *referee) changeLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits for a condition, or for the end of ctx.
func (r *referee) until(ctx context.Context, ready func() bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !ready() {
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		r.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// begin is called before a writer begins an operation; it waits while others have yet to show what this one has shown,
// and while a fault of the cluster waits for others' troubles to pass.
func (r *referee) begin(ctx context.Context, id OpID) error {
	return r.until(ctx, func() bool {
		waitsForFault := r.state == claimed && len(r.troubled) > 0
		if waitsForFault || r.asking && r.shown[id.Writer] >= r.stage {
			return false
		}
		r.begun[id.Writer] = r.stage
		return true
	})
}

// end is called when an operation has ended. An error shows nothing.
func (r *referee) end(id OpID, acknowledged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.troubled, id)
	if r.state == claimed && r.claimant == id {
		r.state = whole // its fault did not happen
	}
	if acknowledged {
		r.shown[id.Writer] = r.begun[id.Writer]
	}
	r.changeLocked()
}

// leave is called when a writer has no more operations.
func (r *referee) leave(writer int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown[writer] = gone
	r.changeLocked()
}

// permit reports whether a fault of one message may fire now, and then notes the operation as troubled.
func (r *referee) permit(id OpID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != whole {
		return false
	}
	r.troubled[id] = true
	return true
}

// claim waits until a fault of the whole cluster may fire; false: not this time, or not for an operation that is in
// trouble itself. What was claimed is settled by broke, or by the operation's end.
func (r *referee) claim(ctx context.Context, id OpID) bool {
	r.mu.Lock()
	if r.state != whole || r.troubled[id] {
		r.mu.Unlock()
		return false
	}
	r.state, r.claimant = claimed, id
	r.mu.Unlock()
	return r.until(ctx, func() bool { return len(r.troubled) == 0 }) == nil
}

// broke notes that the claimed fault has fired.
func (r *referee) broke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = broken
	r.changeLocked()
}

// everyWriter waits until each writer has had an operation acknowledged that began after this call.
func (r *referee) everyWriter(ctx context.Context) error {
	r.mu.Lock()
	r.stage++
	r.asking = true
	r.changeLocked()
	r.mu.Unlock()
	err := r.until(ctx, func() bool {
		for _, s := range r.shown {
			if s < r.stage {
				return false
			}
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = false
	r.changeLocked()
	return err
}

// mended notes that the cluster is whole and has shown it.
func (r *referee) mended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == broken {
		r.state = whole
	}
	r.changeLocked()
}

// finish ends all faults.
func (r *referee) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = over
	r.changeLocked()
}

// describe says where things stand, for the error of a cell that does not end.
func (r *referee) describe() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := [...]string{"whole", "claimed by " + r.claimant.String(), "broken", "over"}[r.state]
	var troubled []string
	for id := range r.troubled {
		troubled = append(troubled, id.String())
	}
	return fmt.Sprintf("the cluster is %s; in trouble: %v; stage %d, begun %v, shown %v, asked for: %t",
		state, troubled, r.stage, r.begun, r.shown, r.asking)
}

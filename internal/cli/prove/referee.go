package prove

import (
	"context"
	"fmt"
	"sync"
)

// referee decides when a planned fault may happen. An operation must not have two faults, because a strategy with one
// retry cannot survive them, and the experiment does not test that:
//
//   - A fault of one message happens if the cluster is whole, and is skipped otherwise.
//   - A fault of the whole cluster first waits until no other operation has a fault. While it waits, there are no others.
//   - Some faults of the cluster follow an operation that was sent again: they happen as soon as it has ended, before a
//     secondary has its write. If its retry did not make the write durable, the write is lost.
//   - After a fault of the cluster there are no faults until every writer has had an operation acknowledged that began after the cluster was
//     whole again. At the beginning of the load, there are none until every writer has had an operation acknowledged.
//
// While the referee waits for all writers, a writer that has had its operation acknowledged waits for the others. So the
// load follows the faults and not the clock.
type referee struct {
	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at every change
	state     refereeState
	claimant  OpID
	troubled  map[OpID]FaultKind
	follower  OpID // if following, the operation whose fault of the cluster waits for one that is sent again
	stage     int  // number of calls of everyWriter
	begun     []int
	shown     []int // the stage of each writer's latest acknowledged operation, or gone
	following bool
	asking    bool // everyWriter waits for the writers
	// calm are the writers whose current operation has had no fault, and began and ran while the cluster was whole.
	calm []bool
}

type refereeState uint8

const (
	whole   refereeState = iota // every fault may happen
	claimed                     // a fault of the cluster waits or is about to happen
	broken                      // it happens or has happened, or the load begins: everyWriter has not returned yet
	over                        // no fault may happen
)

// gone is the stage of a writer that has ended.
const gone = int(^uint(0) >> 1)

func newReferee(writers int) *referee {
	return &referee{
		state:    broken,
		changed:  make(chan struct{}),
		troubled: make(map[OpID]FaultKind),
		begun:    make([]int, writers),
		shown:    make([]int, writers),
		calm:     make([]bool, writers),
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

// begin is called before a writer begins an operation. It waits while everyWriter waits for the other writers only,
// and while a fault of the cluster waits for the end of operations that have a fault.
func (r *referee) begin(ctx context.Context, id OpID) error {
	return r.until(ctx, func() bool {
		waitsForFault := r.state == claimed && len(r.troubled) > 0
		if waitsForFault || r.asking && r.shown[id.Writer] >= r.stage {
			return false
		}
		r.begun[id.Writer] = r.stage
		r.calm[id.Writer] = r.state == whole || r.state == claimed
		return true
	})
}

// end is called when an operation has ended. Only an acknowledged one counts for everyWriter. It reports whether the
// operation was calm: it had no fault, and the cluster was whole from its begin to its end.
func (r *referee) end(id OpID, acknowledged bool) (calm bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, troubled := r.troubled[id]
	delete(r.troubled, id)
	switch {
	case r.state != claimed:
	case r.claimant == id: // its fault did not happen
		r.state = whole
	case r.following && r.claimant == r.follower && troubled && !kind.sentAgain() && len(r.troubled) == 0:
		r.state = whole // the one that was sent again has ended before
	}
	if acknowledged {
		r.shown[id.Writer] = r.begun[id.Writer]
	}
	r.changeLocked()
	return r.calm[id.Writer]
}

// leave is called when a writer has no more operations.
func (r *referee) leave(writer int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown[writer] = gone
	r.changeLocked()
}

// permit reports whether a fault of one message may happen now. If so, it marks the operation as troubled.
func (r *referee) permit(id OpID, kind FaultKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != whole {
		return false
	}
	r.troubled[id], r.calm[id.Writer] = kind, false
	if r.following && kind.sentAgain() {
		r.state, r.claimant = claimed, r.follower
	}
	return true
}

// claim waits until a fault of the whole cluster may happen. It returns false if the cluster is not whole, if the
// operation has a fault already, or if another fault waits in claimAfterRetry; only the outage does not wait for that. A
// claim ends when breaks is called or when the operation ends.
func (r *referee) claim(ctx context.Context, id OpID, kind FaultKind) bool {
	r.mu.Lock()
	if r.isTroubled(id) || r.state != whole || r.following && kind != Outage {
		r.mu.Unlock()
		return false
	}
	r.state, r.claimant, r.calm[id.Writer] = claimed, id, false
	r.mu.Unlock()
	return r.until(ctx, func() bool { return len(r.troubled) == 0 }) == nil
}

func (r *referee) isTroubled(id OpID) bool {
	_, troubled := r.troubled[id]
	return troubled
}

// claimAfterRetry is claim for a fault that follows the next operation that is sent again. It returns false if that does
// not come, because the load ends or no other writer is left.
func (r *referee) claimAfterRetry(ctx context.Context, id OpID) bool {
	r.mu.Lock()
	if r.isTroubled(id) || r.state != whole || r.following {
		r.mu.Unlock()
		return false
	}
	r.following, r.follower, r.calm[id.Writer] = true, id, false
	r.mu.Unlock()
	granted := func() bool { return r.state == claimed && r.claimant == id && len(r.troubled) == 0 }
	err := r.until(ctx, func() bool { return granted() || r.state == over || r.alone(id.Writer) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.following = false
	return err == nil && granted()
}

// alone reports whether all other writers have ended.
func (r *referee) alone(writer int) bool {
	for w, stage := range r.shown {
		if w != writer && stage != gone {
			return false
		}
	}
	return true
}

// breaks is called when the claimed fault of an operation is about to happen. It returns false if the claim has ended.
func (r *referee) breaks(id OpID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != claimed || r.claimant != id {
		return false
	}
	r.state = broken
	clear(r.calm)
	r.changeLocked()
	return true
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

// mended is called when the cluster is whole again.
func (r *referee) mended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == broken {
		r.state = whole
	}
	r.changeLocked()
}

// finish allows no more faults.
func (r *referee) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = over
	clear(r.calm)
	r.changeLocked()
}

// describe returns the referee's state, for the error of a cell that does not end.
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

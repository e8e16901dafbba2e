// Package currentop knows the commands that have been evaluated for long, so that they can be listed and ended.
package currentop

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Operation is a command that is being evaluated.
type Operation struct {
	ID          int32
	Description []byte // a document, as currentOp shows it
	killed      atomic.Bool
}

// Killed reports whether the operation is to end.
func (o *Operation) Killed() bool { return o.killed.Load() }

// Operations are those of a server. The zero value has none. It is safe for concurrent use.
type Operations struct {
	mu      sync.Mutex
	list    map[int32]*Operation
	changed chan struct{} // closed at the next change of the list; nil if nobody waits for it
}

// Add adds an operation. It must be removed when it ends.
func (o *Operations) Add(op *Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = make(map[int32]*Operation)
	}
	o.list[op.ID] = op
	o.changesLocked()
}

// Remove removes an operation.
func (o *Operations) Remove(op *Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.list, op.ID)
	o.changesLocked()
}

// Changed returns a channel that is closed when an operation is added or removed next.
func (o *Operations) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.changed
}

func (o *Operations) changesLocked() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// Kill makes an operation end, if it is there.
func (o *Operations) Kill(id int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op := o.list[id]; op != nil {
		op.killed.Store(true)
	}
}

// Descriptions returns the descriptions of all operations, in the order of their ids.
func (o *Operations) Descriptions() (list [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(o.list)) {
		list = append(list, o.list[id].Description)
	}
	return list
}

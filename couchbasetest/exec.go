package couchbasetest

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// exec executes one request.
type exec struct {
	conn    *conn
	cluster *Cluster
	node    *node
	p       memd.Packet
	command *command // nil if there is none with the opcode
	middle  []Middleware
	waits   chan struct{} // closed when the request, which has a goroutine of its own, waits or has ended; nil without
	once    sync.Once
	start   time.Time
	frames  frames
	request *Request // what middleware sees of it; nil without middleware
	entry   *Entry   // of the journal, nil if the request cannot change a document

	// Set when the request has been checked:
	now        time.Time
	bucket     *bucket
	key        store.Key
	copy       *store.VBucket // the node's, of the request's vbucket
	value      []byte         // inflated
	compressed bool           // the value came compressed
	ahead      *ahead         // the durable write that waits for its replicas

	dead bool // the node was killed before the request was executed
}

func newExec(c *conn, p memd.Packet) *exec {
	x := &exec{conn: c, cluster: c.cluster, node: c.node, p: p, command: commands[p.Opcode], start: time.Now()}
	x.frames = parseFrames(p.Frames)
	x.raiseDurability()
	x.middle = c.cluster.concerning(p.Opcode)
	return x
}

// own makes the request one of its own bytes, which stay.
func (x *exec) own(packet []byte) {
	x.p, _ = memd.Parse(packet)
	x.waits = make(chan struct{})
}

// runAside executes the request on a goroutine of its own. The next requests of the connection begin when it waits, or has ended, so
// that requests begin in the order in which they were sent.
func (x *exec) runAside() {
	defer x.aside()
	switch err := x.run(); {
	case errors.Is(err, errSilent):
	case err != nil || x.conn.out.flush() != nil:
		_ = x.conn.out.flush()
		x.conn.close()
	}
}

// aside lets the next requests begin.
func (x *exec) aside() {
	if x.waits != nil {
		x.once.Do(func() { close(x.waits) })
	}
}

// alone reports whether the request must not run beside others.
func (x *exec) alone() bool { return x.frames.barrier || x.command != nil && x.command.alone }

// mayRunAside reports whether the request may wait, and others may run meanwhile.
func (x *exec) mayRunAside() bool {
	waits := len(x.middle) > 0 || x.frames.durable
	return waits && !x.alone() && x.conn.features.Has(memd.FeatureUnorderedExecution)
}

func (x *exec) sinceStart() time.Duration { return time.Since(x.start) }

// run executes the request and puts the reply on its way.
func (x *exec) run() error {
	defer x.cluster.begin()()
	x.node.received[x.p.Opcode].Add(1)
	x.note()
	var reply *Reply
	if len(x.middle) == 0 {
		reply = x.execute()
	} else {
		x.request = x.describe()
		reply = testserver.Around(x.middle, func(*Request) *Reply { return x.execute() })(x.request)
	}
	err := errHangUp
	switch {
	case x.dead: // Kill resets the connection
		err = errSilent
	case reply != nil:
		err = x.send(reply)
	}
	x.cluster.journal.finish(x.entry, reply, err)
	if errors.Is(err, errHangUp) { // now, so that WaitIdle waits for it
		_ = x.conn.out.flush()
		x.conn.close()
	}
	return err
}

// execute executes the request and returns the reply, nil if the connection or the cluster ended meanwhile.
func (x *exec) execute() *Reply {
	if x.command == nil {
		return refusal(memd.StatusUnknownCommand)
	}
	reply := x.underLock()
	if x.ahead != nil {
		return x.await(reply)
	}
	return reply
}

func (x *exec) underLock() *Reply {
	x.cluster.mu.Lock()
	defer x.cluster.mu.Unlock()
	if x.dead = x.conn.dead; x.dead {
		return nil
	}
	if x.entry != nil {
		x.cluster.journal.mark(func() { x.entry.RequestLost = false })
	}
	x.now = time.Now()
	if reply := x.check(); reply != nil {
		return reply
	}
	return x.command.run(x)
}

// frames are the framing extras of a request.
type frames struct {
	barrier, preserve, durable bool
	level                      memd.DurabilityLevel
	timeout                    time.Duration
	refused                    memd.Status
}

func parseFrames(b []byte) (f frames) {
	for len(b) > 0 && f.refused == memd.StatusSuccess {
		next, others, err := memd.NextFrame(b)
		if err == nil {
			err = f.add(next)
		}
		if err != nil {
			f.refused = memd.StatusInvalidArguments
		}
		b = others
	}
	return f
}

// add notes a frame.
func (f *frames) add(next memd.Frame) (err error) {
	switch next.Kind {
	case memd.FrameBarrier:
		f.barrier = true
	case memd.FramePreserveExpiry:
		f.preserve = true
	case memd.FrameImpersonate:
	case memd.FrameDurability:
		f.durable = true
		f.level, f.timeout, err = memd.Durability(next.Data)
	case memd.FrameWriteUnits, memd.FrameThrottled: // only responses have them
		f.refused = memd.StatusUnknownFrame
	default:
		f.refused = memd.StatusUnknownFrame
	}
	return err
}

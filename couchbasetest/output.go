package couchbasetest

import (
	"sync"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// output has the bytes that are to be sent to a client. Any goroutine appends; one at a time writes for all.
type output struct {
	conn    *conn
	mu      sync.Mutex
	bytes   []byte
	spare   []byte
	writing bool
	ended   bool // nothing is sent after what was appended
}

// append adds a packet, of which only the first cut bytes are sent if cut is not negative. Nothing is sent after these: the client would
// take it for the rest of the packet.
func (o *output) append(p *memd.Packet, cut int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return errSilent
	}
	before := len(o.bytes)
	with, err := p.Append(o.bytes)
	if err != nil {
		return err
	}
	if cut >= 0 {
		with = with[:min(before+cut, len(with))]
		o.ended = true
	}
	o.bytes = with
	return nil
}

// appendGarbage adds bytes that are no packet.
func (o *output) appendGarbage(b []byte, last bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return errSilent
	}
	o.bytes, o.ended = append(o.bytes, b...), last
	return nil
}

// flush writes what was appended, unless another goroutine does so already.
func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing {
		return nil
	}
	o.writing = true
	defer func() { o.writing = false }()
	for len(o.bytes) > 0 {
		b := o.bytes
		o.bytes = o.spare[:0]
		err := o.write(b)
		if o.spare = b; cap(b) > maxRetained {
			o.spare = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write sends bytes without the mutex, which is held before and after.
func (o *output) write(b []byte) error {
	o.mu.Unlock()
	defer o.mu.Lock()
	if err := o.conn.node.gate.Wait(o.conn.done); err != nil {
		return err
	}
	_, err := o.conn.nc.Write(b)
	return err
}

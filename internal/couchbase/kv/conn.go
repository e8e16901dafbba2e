// Package kv is one connection to one node. This plain version stands in until the real one is merged.
package kv

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// Login is a credential.
type Login struct{ User, Password string }

// Conn is one connection.
type Conn struct {
	c        *Config
	net      net.Conn
	address  string
	features memd.Features
	errorMap *memd.ErrorMap
	firstMap []byte
	closed   atomic.Bool
	mu       sync.Mutex
	next     uint32
	waiting  map[uint32]chan memd.Packet
	done     chan struct{}
	err      error
}

// Connect connects.
func Connect(ctx context.Context, c *Config, address, bucket string) (*Conn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	_ = c.maxQueue
	if c.Timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	n, err := c.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if bucket == "" && c.LateBucket != nil {
		bucket = c.LateBucket()
	}
	conn := &Conn{c: c, net: n, address: address, waiting: map[uint32]chan memd.Packet{}, done: make(chan struct{})}
	go conn.read()
	deadline, _ := ctx.Deadline()
	fail := func(s memd.Opcode, st memd.Status, err error) (*Conn, error) {
		conn.c = &Config{}
		conn.Close(err)
		return nil, &HandshakeError{Address: address, Step: s, HasStep: true, Status: st, Err: err}
	}
	var r Reply
	type step struct {
		q   Request
		ok  func()
		err error
	}
	steps := []step{
		{Request{Opcode: memd.OpHello, Key: []byte("{}"), Value: memd.AppendFeatures(nil, c.Features...)}, func() { conn.features, _ = memd.ParseFeatures(r.Value) }, ErrServerTooOld},
		{Request{Opcode: memd.OpGetErrorMap, Value: []byte{0, 2}}, func() { conn.errorMap, _ = memd.ParseErrorMap(r.Value) }, nil},
	}
	if c.Login != nil {
		steps = append(steps, step{Request{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Login.User + "\x00" + c.Login.Password)}, func() {}, ErrBadCredentials})
	}
	if bucket != "" {
		steps = append(steps, step{Request{Opcode: memd.OpSelectBucket, Key: []byte(bucket)}, func() {}, ErrNoBucket})
	}
	steps = append(steps, step{Request{Opcode: memd.OpGetClusterConfig}, func() { conn.firstMap = r.Value }, ErrRefused})
	for _, s := range steps {
		s.q.Deadline, s.q.Cancelled = deadline, ctx.Done()
		if err := conn.RoundTrip(&s.q, &r); err != nil {
			return fail(s.q.Opcode, 0, err)
		}
		if r.Status != 0 {
			if s.err == nil {
				continue
			}
			return fail(s.q.Opcode, r.Status, s.err)
		}
		s.ok()
	}
	return conn, nil
}

func (c *Conn) read() {
	for {
		b, err := memd.Read(c.net, nil)
		if err != nil {
			c.Close(err)
			return
		}
		p, err := memd.Parse(b)
		if err != nil {
			c.Close(err)
			return
		}
		if p.Magic == memd.MagicServerRequest {
			v, _ := memd.ParseMapVersion(p.Extras)
			if c.c.OnMap != nil {
				var body []byte
				if len(p.Value) > 0 {
					body = p.Value
				}
				c.c.OnMap(c, v, body)
			}
			continue
		}
		c.mu.Lock()
		ch := c.waiting[p.Opaque]
		delete(c.waiting, p.Opaque)
		c.mu.Unlock()
		if ch != nil {
			ch <- p
		}
	}
}

// RoundTrip sends one request.
func (c *Conn) RoundTrip(r *Request, reply *Reply) error {
	ch := make(chan memd.Packet, 1)
	c.mu.Lock()
	if c.closed.Load() {
		c.mu.Unlock()
		return &Error{retry.StageDispatch, 0, c.err}
	}
	if c.c.MaxQueue > 0 && len(c.waiting) >= c.c.MaxQueue {
		c.mu.Unlock()
		return &Error{retry.StageDispatch, 0, ErrQueueFull}
	}
	c.next++
	opaque := c.next
	c.waiting[opaque] = ch
	c.mu.Unlock()
	b, err := r.appendTo(nil, opaque, r.DataType, r.Value)
	if err != nil {
		return &Error{retry.StageDispatch, 0, err}
	}
	if _, err := c.net.Write(b); err != nil {
		c.Close(err)
	}
	var timer <-chan time.Time
	if !r.Deadline.IsZero() {
		t := time.NewTimer(time.Until(r.Deadline))
		defer t.Stop()
		timer = t.C
	}
	select {
	case reply.Packet = <-ch:
		reply.Body = reply.Value
		return nil
	case <-c.done:
		select {
		case reply.Packet = <-ch:
			reply.Body = reply.Value
			return nil
		default:
		}
		return &Error{retry.StageInFlight, opaque, c.err}
	case <-timer:
		return &Error{retry.StageInFlight, opaque, ErrDeadline}
	case <-r.Cancelled:
		return &Error{retry.StageInFlight, opaque, ErrCancelled}
	}
}

// SelectBucket selects.
func (c *Conn) SelectBucket(ctx context.Context, bucket string) error {
	var r Reply
	q := Request{Opcode: memd.OpSelectBucket, Key: []byte(bucket), Cancelled: ctx.Done()}
	if err := c.RoundTrip(&q, &r); err != nil {
		return err
	}
	if r.Status != 0 {
		return &HandshakeError{Address: c.address, Step: memd.OpSelectBucket, HasStep: true, Status: r.Status, Err: ErrNoBucket}
	}
	return nil
}

// Close closes.
func (c *Conn) Close(err error) {
	if err == nil {
		err = errors.New("closed by the client")
	}
	c.mu.Lock()
	if c.closed.Swap(true) {
		c.mu.Unlock()
		return
	}
	c.err = &closedError{err}
	close(c.done)
	c.mu.Unlock()
	c.net.Close()
	if c.c.OnClose != nil {
		c.c.OnClose(c, err)
	}
}

// Features returns them.
func (c *Conn) Features() memd.Features { return c.features }

// ErrorMap returns it.
func (c *Conn) ErrorMap() *memd.ErrorMap { return c.errorMap }

// FirstMap returns it.
func (c *Conn) FirstMap() []byte { return c.firstMap }

// Address returns it.
func (c *Conn) Address() string { return c.address }

// ID returns it.
func (c *Conn) ID() string { return "0/0" }

// Local returns it.
func (c *Conn) Local() string { return c.net.LocalAddr().String() }

// InFlight returns it.
func (c *Conn) InFlight() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.waiting) }

// LastUsed returns it.
func (c *Conn) LastUsed() time.Time { return time.Time{} }

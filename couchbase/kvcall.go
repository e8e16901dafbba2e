package couchbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// callOptions are the options that every key-value operation has.
type callOptions struct {
	timeout  time.Duration
	strategy RetryStrategy
	span     RequestSpan
	ctx      context.Context
	user     string
}

// kvCall is one key-value operation: its description and its result.
type kvCall struct {
	operation.Operation
	result     operation.Result
	kind       *kvOperation
	collection *Collection
	options    callOptions
	durability durability
	buffer     [128]byte   // for a short key and extras
	used       int         // bytes of buffer
	span       RequestSpan // nil: the operation makes no spans
	traced     *traced     // nil: nobody is told of it
}

var kvCalls = sync.Pool{New: func() any { return new(kvCall) }}

// The longest ids of documents in bytes. In the default collection the client needs no room for the collection's id.
const (
	maxID               = 250
	maxIDWithCollection = 246
)

// maxValue is the largest value of a document, in bytes before compression, that servers take.
const maxValue = 20 << 20

// checkValue checks the size of a value. The error matches ErrValueTooLarge and not ErrInvalidArgument, as that of a server.
func checkValue(field string, value []byte) error {
	if len(value) <= maxValue {
		return nil
	}
	return fmt.Errorf("couchbase: %s has %d bytes, but a server takes at most %d%w", field, len(value), maxValue, silent{ErrValueTooLarge})
}

// checkCall checks what all operations on a document have in common.
func (c *Collection) checkCall(id string, o callOptions) error {
	if err := c.check(); err != nil {
		return err
	}
	longest := maxID
	if c.scope != cluster.DefaultName || c.name != cluster.DefaultName {
		longest = maxIDWithCollection
	}
	switch {
	case id == "":
		return invalid("id must not be empty")
	case len(id) > longest:
		return invalid("id has %d bytes; in this collection it must have at most %d", len(id), longest)
	case o.timeout < 0:
		return invalid("Timeout is %v; it must not be negative", o.timeout)
	case o.user != "":
		return invalid("Internal.User is not supported: operations run as the user who is logged in")
	}
	return nil
}

// call begins the description of an operation on a document. free must be called with it after a success.
func (c *Collection) call(kind *kvOperation, id string, options callOptions, d durability) (*kvCall, error) {
	if err := c.checkCall(id, options); err != nil {
		return nil, err
	}
	call := kvCalls.Get().(*kvCall)
	call.kind, call.collection, call.options, call.durability, call.Durability = kind, c, options, d, d.level
	call.Name, call.Opcode, call.Idempotency, call.Collection = kind.name, kind.opcode, kind.idempotency, c.collection
	call.Key = call.keep(id)
	call.trace()
	call.span = c.bucket.cluster.instruments.begin(kind, c, options.span, d)
	return call, nil
}

// keep copies a text into the buffer of the call, if there is room.
func (c *kvCall) keep(s string) []byte {
	if c.used+len(s) > len(c.buffer) {
		return []byte(s)
	}
	b := append(c.buffer[c.used:c.used], s...)
	c.used += len(s)
	return b[:len(b):len(b)]
}

// room returns an empty slice that ends with the buffer, for extras.
func (c *kvCall) room() []byte { return c.buffer[c.used:c.used] }

// free gives the call back, after everything that is needed has been taken out of its result.
func (c *kvCall) free() {
	if c.durability.observed() {
		return // its watchers may still use it
	}
	*c = kvCall{}
	kvCalls.Put(c)
}

// run runs the operation until it has succeeded, or returns its error. Then the call must not be freed: the error has parts of it.
func (c *kvCall) run() error {
	if err := c.checkRequest(); err != nil {
		c.endSpan()
		return err
	}
	cl := c.collection.bucket.cluster
	ctx := c.options.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	timeout := c.timeout(cl)
	strategy := c.options.strategy
	if strategy == nil {
		strategy = cl.settings.strategy
	}
	if strategy != nil {
		c.Strategy = engineStrategy(ctx, strategy)
	}
	i := cl.instruments
	if c.traced != nil {
		ctx = c.traced.run()
	}
	if c.span != nil {
		ctx = context.WithValue(ctx, spanKey{}, c.span)
	}
	c.Began = time.Now()
	err := cl.runner.Run(ctx, timeout, &c.Operation, &c.result)
	c.traced.returned()
	elapsed := c.result.Took
	if err != nil {
		elapsed = time.Since(c.Began)
	}
	if c.span != nil {
		c.span.End()
	} else {
		i.slow(c, elapsed, timeout, err)
	}
	if err != nil {
		err = c.failed(err)
	}
	i.measured(c, elapsed, err)
	return err
}

// checkRequest checks what is known only when the request has been described.
func (c *kvCall) checkRequest() error {
	if c.kind != kvMutateIn { // its parts have been checked
		if err := checkValue("the value", c.Value); err != nil {
			return err
		}
	}
	if c.durability.observed() {
		return c.checkCopies()
	}
	return nil
}

// endSpan ends the span of the operation, if it has one.
func (c *kvCall) endSpan() {
	if c.span != nil {
		c.span.End()
	}
}

// timeout returns the time that the operation may take. RFC 0059 gives KVDurableTimeout to writes of both kinds of durability.
func (c *kvCall) timeout(cl *Cluster) time.Duration {
	switch {
	case c.options.timeout > 0:
		return c.options.timeout
	case c.durability.level != 0, c.durability.observed():
		return cl.settings.timeouts.KVDurableTimeout
	default:
		return cl.settings.timeouts.KVTimeout
	}
}

// failed returns the error of the operation with gocb's types.
func (c *kvCall) failed(err error) error {
	var e *operation.Error
	if !errors.As(err, &e) {
		return err
	}
	return keyValueFailure(c.kind, e)
}

// encode encodes the value of a document. An error, or a panic of the transcoder, ends the span of the operation, which is not sent.
func (c *kvCall) encode(t Transcoder, value any) (b []byte, flags uint32, err error) {
	if c.span == nil && c.traced == nil {
		return t.Encode(value)
	}
	err = c.traced.encode(func() (err error) {
		b, flags, err = c.encodeSpanned(t, value)
		return err
	})
	return b, flags, err
}

func (c *kvCall) encodeSpanned(t Transcoder, value any) (b []byte, flags uint32, err error) {
	if c.span == nil {
		return t.Encode(value)
	}
	span := c.collection.bucket.cluster.instruments.tracer.RequestSpan(c.span.Context(), spanEncoding)
	span.SetAttribute(attributeSystem, "couchbase")
	encoded := false
	defer func() {
		span.End()
		if !encoded {
			c.span.End()
		}
	}()
	b, flags, err = t.Encode(value)
	encoded = err == nil
	return b, flags, err
}

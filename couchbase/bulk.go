package couchbase

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// BulkOp is an operation of [Collection.Do]: a pointer to [GetOp], [UpsertOp] and so on, which gets the result.
type BulkOp interface {
	run(c *Collection, o *BulkOpOptions)
}

// BulkOpOptions are the options of [Collection.Do].
type BulkOpOptions struct {
	Timeout       time.Duration // of all operations together; 0: the cluster's, for each of them
	Transcoder    Transcoder    // nil: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operations end when it does.
}

// from returns the options of an operation of a Do that began at a time. One whose time is over already is not sent.
func (o *BulkOpOptions) from(began time.Time) *BulkOpOptions {
	left := *o
	if o.Timeout <= 0 {
		return &left
	}
	if left.Timeout = o.Timeout - time.Since(began); left.Timeout > 0 {
		return &left
	}
	parent := o.Context
	if parent == nil {
		parent = context.Background()
	}
	ended, cancel := context.WithDeadline(parent, began)
	cancel()
	left.Context, left.Timeout = ended, o.Timeout
	return &left
}

// bulkSideBySide is the number of operations of one Do that run at a time.
const bulkSideBySide = 64

// Do runs operations side by side, in no order, and waits for all of them. Each operation has its own result and error; Do's own error is
// about its arguments, and then no operation was run.
func (c *Collection) Do(ops []BulkOp, opts *BulkOpOptions) error {
	if opts == nil {
		opts = &BulkOpOptions{}
	}
	if err := c.check(); err != nil {
		return err
	}
	for i, op := range ops {
		if op == nil || reflect.ValueOf(op).IsNil() { // every BulkOp is a pointer
			return invalid("ops[%d] is nil", i)
		}
	}
	began := time.Now()
	next := make(chan BulkOp)
	var workers sync.WaitGroup
	var panicked panics
	run := func(op BulkOp) {
		defer panicked.catch()
		op.run(c, opts.from(began))
	}
	for range min(bulkSideBySide, len(ops)) {
		workers.Go(func() {
			for op := range next {
				run(op)
			}
		})
	}
	for _, op := range ops {
		next <- op
	}
	close(next)
	workers.Wait()
	panicked.rethrow()
	return nil
}

// GetOp reads a document.
type GetOp struct {
	ID string

	Result *GetResult
	Err    error
}

func (op *GetOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Get(op.ID, &GetOptions{
		Transcoder: o.Transcoder, Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// GetAndTouchOp reads a document and sets its expiry.
type GetAndTouchOp struct {
	ID     string
	Expiry time.Duration

	Result *GetResult
	Err    error
}

func (op *GetAndTouchOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.GetAndTouch(op.ID, op.Expiry, &GetAndTouchOptions{
		Transcoder: o.Transcoder, Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// TouchOp sets a document's expiry.
type TouchOp struct {
	ID     string
	Expiry time.Duration

	Result *MutationResult
	Err    error
}

func (op *TouchOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Touch(op.ID, op.Expiry, &TouchOptions{
		Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// RemoveOp removes a document.
type RemoveOp struct {
	ID  string
	Cas Cas

	Result *MutationResult
	Err    error
}

func (op *RemoveOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Remove(op.ID, &RemoveOptions{
		Cas: op.Cas, Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// UpsertOp makes a document or replaces the one that is there, which must have the version Cas if that is not 0.
type UpsertOp struct {
	ID     string
	Value  any
	Expiry time.Duration
	Cas    Cas

	Result *MutationResult
	Err    error
}

func (op *UpsertOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.store(kvUpsert, op.ID, storeOptions{
		value: op.Value, expiry: op.Expiry, cas: op.Cas, transcoder: o.Transcoder,
		call: callOptions{timeout: o.Timeout, strategy: o.RetryStrategy, span: o.ParentSpan, ctx: o.Context},
	})
}

// InsertOp makes a document.
type InsertOp struct {
	ID     string
	Value  any
	Expiry time.Duration

	Result *MutationResult
	Err    error
}

func (op *InsertOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Insert(op.ID, op.Value, &InsertOptions{
		Expiry: op.Expiry, Transcoder: o.Transcoder, Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// ReplaceOp replaces a document.
type ReplaceOp struct {
	ID     string
	Value  any
	Expiry time.Duration
	Cas    Cas

	Result *MutationResult
	Err    error
}

func (op *ReplaceOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Replace(op.ID, op.Value, &ReplaceOptions{
		Expiry: op.Expiry, Cas: op.Cas, Transcoder: o.Transcoder, Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan,
		Context: o.Context,
	})
}

// AppendOp adds bytes after a document's.
type AppendOp struct {
	ID    string
	Value string

	Result *MutationResult
	Err    error
}

func (op *AppendOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Binary().Append(op.ID, []byte(op.Value), &AppendOptions{
		Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// PrependOp adds bytes before a document's.
type PrependOp struct {
	ID    string
	Value string

	Result *MutationResult
	Err    error
}

func (op *PrependOp) run(c *Collection, o *BulkOpOptions) {
	op.Result, op.Err = c.Binary().Prepend(op.ID, []byte(op.Value), &PrependOptions{
		Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// IncrementOp adds to the counter that a document is.
type IncrementOp struct {
	ID      string
	Delta   int64
	Initial int64 // negative: no document is made
	Expiry  time.Duration

	Result *CounterResult
	Err    error
}

func (op *IncrementOp) run(c *Collection, o *BulkOpOptions) {
	if op.Delta < 0 {
		op.Err = invalid("Delta is %d; it must not be negative", op.Delta)
		return
	}
	op.Result, op.Err = c.Binary().Increment(op.ID, &IncrementOptions{
		Delta: uint64(op.Delta), Initial: op.Initial, Expiry: op.Expiry,
		Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

// DecrementOp subtracts from the counter that a document is.
type DecrementOp struct {
	ID      string
	Delta   int64
	Initial int64 // negative: no document is made
	Expiry  time.Duration

	Result *CounterResult
	Err    error
}

func (op *DecrementOp) run(c *Collection, o *BulkOpOptions) {
	if op.Delta < 0 {
		op.Err = invalid("Delta is %d; it must not be negative", op.Delta)
		return
	}
	op.Result, op.Err = c.Binary().Decrement(op.ID, &DecrementOptions{
		Delta: uint64(op.Delta), Initial: op.Initial, Expiry: op.Expiry,
		Timeout: o.Timeout, RetryStrategy: o.RetryStrategy, ParentSpan: o.ParentSpan, Context: o.Context,
	})
}

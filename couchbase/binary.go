package couchbase

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// AppendOptions are the options of [BinaryCollection.Append].
type AppendOptions struct {
	Timeout         time.Duration // 0: the cluster's
	DurabilityLevel DurabilityLevel
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	Cas             Cas           // the document must have this version; 0: any
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Append adds bytes after a document's.
func (c *BinaryCollection) Append(id string, val []byte, opts *AppendOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &AppendOptions{}
	}
	return c.adjoin(kvAppend, id, val, opts)
}

// PrependOptions are the options of [BinaryCollection.Prepend].
type PrependOptions struct {
	Timeout         time.Duration // 0: the cluster's
	DurabilityLevel DurabilityLevel
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	Cas             Cas           // the document must have this version; 0: any
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Prepend adds bytes before a document's.
func (c *BinaryCollection) Prepend(id string, val []byte, opts *PrependOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &PrependOptions{}
	}
	return c.adjoin(kvPrepend, id, val, (*AppendOptions)(opts))
}

func (c *BinaryCollection) adjoin(kind *kvOperation, id string, val []byte, opts *AppendOptions) (*MutationResult, error) {
	d, err := parseDurability(opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo)
	if err != nil {
		return nil, err
	}
	call, err := c.collection.call(kind, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, d)
	if err != nil {
		return nil, err
	}
	call.CAS, call.Value = uint64(opts.Cas), val
	return call.write()
}

// IncrementOptions are the options of [BinaryCollection.Increment].
type IncrementOptions struct {
	Timeout         time.Duration // 0: the cluster's
	Expiry          time.Duration // of a new document; 0: it never expires
	Initial         int64         // the value of a new document; negative: none is made
	Delta           uint64        // what is added to the value of a document that is there
	DurabilityLevel DurabilityLevel
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan

	// Cas must be 0.
	//
	// Deprecated: servers take no version for counters.
	Cas Cas

	Context context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Increment adds to the counter that a document is.
func (c *BinaryCollection) Increment(id string, opts *IncrementOptions) (countOut *CounterResult, errOut error) {
	if opts == nil {
		opts = &IncrementOptions{}
	}
	return c.count(kvIncrement, id, opts)
}

// DecrementOptions are the options of [BinaryCollection.Decrement].
type DecrementOptions struct {
	Timeout         time.Duration // 0: the cluster's
	Expiry          time.Duration // of a new document; 0: it never expires
	Initial         int64         // the value of a new document; negative: none is made
	Delta           uint64        // what is subtracted from the value of a document that is there
	DurabilityLevel DurabilityLevel
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan

	// Cas must be 0.
	//
	// Deprecated: servers take no version for counters.
	Cas Cas

	Context context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Decrement subtracts from the counter that a document is. Its value does not become less than 0.
func (c *BinaryCollection) Decrement(id string, opts *DecrementOptions) (countOut *CounterResult, errOut error) {
	if opts == nil {
		opts = &DecrementOptions{}
	}
	return c.count(kvDecrement, id, (*IncrementOptions)(opts))
}

func (c *BinaryCollection) count(kind *kvOperation, id string, opts *IncrementOptions) (result *CounterResult, err error) {
	if opts.Cas != 0 {
		return nil, invalid("Cas is not supported by %s", kind.name)
	}
	d, err := parseDurability(opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo)
	if err != nil {
		return nil, err
	}
	counter := memd.Counter{Delta: opts.Delta, Initial: uint64(max(opts.Initial, 0))}
	if counter.Expiry, err = encodeExpiry("Expiry", opts.Expiry); err != nil {
		return nil, err
	}
	if opts.Initial < 0 {
		counter.Expiry = memd.NoCreate
	}
	call, err := c.collection.call(kind, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, d)
	if err != nil {
		return nil, err
	}
	defer call.traced.ended(&err)
	call.Extras = memd.AppendCounter(call.room(), counter)
	if err := call.run(); err != nil {
		return nil, err
	}
	value, err := memd.ParseUint64(call.result.Packet.Value)
	if err != nil {
		return nil, call.unreadable(err)
	}
	result = &CounterResult{content: value}
	if err := call.mutation(&result.MutationResult, new(MutationToken)); err != nil {
		return nil, err
	}
	if err := call.observeDurability(&result.MutationResult); err != nil {
		return nil, err
	}
	call.free()
	return result, nil
}

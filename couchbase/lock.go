package couchbase

import (
	"context"
	"encoding/binary"
	"time"
)

// GetAndLockOptions are the options of [Collection.GetAndLock].
type GetAndLockOptions struct {
	Transcoder    Transcoder    // nil: the cluster's
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// GetAndLock reads a document and locks it. Until the lock ends, or [Collection.Unlock] or a write with the result's CAS ends it,
// other writes are refused. Servers count lockTime in seconds, up to 30; 0 means the server's default, 15 s.
func (c *Collection) GetAndLock(id string, lockTime time.Duration, opts *GetAndLockOptions) (docOut *GetResult, errOut error) {
	if opts == nil {
		opts = &GetAndLockOptions{}
	}
	seconds, err := encodeLockTime(lockTime)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kvGetAndLock, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return nil, err
	}
	call.Extras = binary.BigEndian.AppendUint32(call.room(), seconds)
	return call.get(opts.Transcoder)
}

// UnlockOptions are the options of [Collection.Unlock].
type UnlockOptions struct {
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Unlock ends the lock of a document. cas is that of [Collection.GetAndLock]; another one fails with [ErrCasMismatch].
func (c *Collection) Unlock(id string, cas Cas, opts *UnlockOptions) (errOut error) {
	if opts == nil {
		opts = &UnlockOptions{}
	}
	call, err := c.call(kvUnlock, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return err
	}
	call.CAS = uint64(cas)
	defer call.traced.ended(&errOut)
	if err := call.run(); err != nil {
		return err
	}
	call.free()
	return nil
}

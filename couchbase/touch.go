package couchbase

import (
	"context"
	"encoding/binary"
	"time"
)

// TouchOptions are the options of [Collection.Touch].
type TouchOptions struct {
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Touch sets a document's expiry. 0 means that it never expires.
func (c *Collection) Touch(id string, expiry time.Duration, opts *TouchOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &TouchOptions{}
	}
	seconds, err := encodeExpiry("expiry", expiry)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kvTouch, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return nil, err
	}
	call.Extras = binary.BigEndian.AppendUint32(call.room(), seconds)
	return call.write()
}

// GetAndTouchOptions are the options of [Collection.GetAndTouch].
type GetAndTouchOptions struct {
	Transcoder    Transcoder    // nil: the cluster's
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// GetAndTouch reads a document and sets its expiry. 0 means that it never expires.
func (c *Collection) GetAndTouch(id string, expiry time.Duration, opts *GetAndTouchOptions) (docOut *GetResult, errOut error) {
	if opts == nil {
		opts = &GetAndTouchOptions{}
	}
	seconds, err := encodeExpiry("expiry", expiry)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kvGetAndTouch, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return nil, err
	}
	call.Extras = binary.BigEndian.AppendUint32(call.room(), seconds)
	return call.get(opts.Transcoder)
}

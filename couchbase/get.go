package couchbase

import (
	"context"
	"time"
)

// GetOptions are the options of [Collection.Get].
type GetOptions struct {
	WithExpiry    bool          // GetResult.ExpiryTime has the expiry. The document is read as JSON.
	Project       []string      // only what these paths name is read, as a JSON object
	Transcoder    Transcoder    // nil: the cluster's
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Get reads a document. It fails with [ErrDocumentNotFound] if there is none.
func (c *Collection) Get(id string, opts *GetOptions) (docOut *GetResult, errOut error) {
	if opts == nil {
		opts = &noGetOptions
	}
	if opts.WithExpiry || len(opts.Project) > 0 {
		return c.getParts(id, opts)
	}
	call, err := c.call(kvGet, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return nil, err
	}
	return call.get(opts.Transcoder)
}

var noGetOptions GetOptions

// get runs an operation whose answer is a document.
func (c *kvCall) get(t Transcoder) (result *GetResult, err error) {
	defer c.traced.ended(&err)
	if err := c.run(); err != nil {
		return nil, err
	}
	result = new(GetResult)
	if err := c.document(t, result); err != nil {
		return nil, err
	}
	c.free()
	return result, nil
}

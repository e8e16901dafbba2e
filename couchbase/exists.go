package couchbase

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// ExistsOptions are the options of [Collection.Exists].
type ExistsOptions struct {
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Exists asks whether there is a document.
func (c *Collection) Exists(id string, opts *ExistsOptions) (docOut *ExistsResult, errOut error) {
	if opts == nil {
		opts = &ExistsOptions{}
	}
	call, err := c.call(kvExists, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, durability{})
	if err != nil {
		return nil, err
	}
	defer call.traced.ended(&errOut)
	call.Extras = append(call.room(), memd.MetaVersion)
	switch err := call.run(); {
	case errors.Is(err, ErrDocumentNotFound):
		return &ExistsResult{}, nil
	case err != nil:
		return nil, err
	}
	meta, err := memd.ParseMeta(call.result.Packet.Extras)
	if err != nil {
		return nil, call.unreadable(err)
	}
	result := &ExistsResult{exists: !meta.Deleted}
	if result.exists {
		result.cas = Cas(call.result.Packet.CAS)
	}
	call.free()
	return result, nil
}

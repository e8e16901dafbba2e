package couchbase

import (
	"context"
	"time"
)

// RemoveOptions are the options of [Collection.Remove].
type RemoveOptions struct {
	Cas             Cas  // the document must have this version; 0: any
	PersistTo       uint // the nodes that must have the removal on disk, observed by the client
	ReplicateTo     uint // the replicas that must have the removal, observed by the client
	DurabilityLevel DurabilityLevel
	Timeout         time.Duration // 0: the cluster's
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Remove removes a document. It fails with [ErrDocumentNotFound] if there is none.
func (c *Collection) Remove(id string, opts *RemoveOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &RemoveOptions{}
	}
	d, err := parseDurability(opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kvRemove, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, d)
	if err != nil {
		return nil, err
	}
	call.CAS = uint64(opts.Cas)
	return call.write()
}

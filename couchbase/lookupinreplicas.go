package couchbase

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// LookupInAnyReplicaOptions are the options of [Collection.LookupInAnyReplica].
type LookupInAnyReplicaOptions struct {
	Timeout        time.Duration // 0: the cluster's
	RetryStrategy  RetryStrategy // nil: the cluster's
	ParentSpan     RequestSpan
	ReadPreference ReadPreference
	Context        context.Context // nil: none. The operation ends when it does.

	Internal struct {
		DocFlags SubdocDocFlag
		User     string
	}
}

// LookupInAnyReplica reads parts of a document from all nodes that have it, and returns the first answer. It fails with
// [ErrDocumentUnretrievable] if none has it.
func (c *Collection) LookupInAnyReplica(id string, ops []LookupInSpec, opts *LookupInAnyReplicaOptions) (*LookupInReplicaResult, error) {
	if opts == nil {
		opts = &LookupInAnyReplicaOptions{}
	}
	read, err := c.lookUpReplicas(id, ops, (*LookupInAllReplicaOptions)(opts))
	if err != nil {
		return nil, err
	}
	return read.first()
}

// LookupInAllReplicaOptions are the options of [Collection.LookupInAllReplicas].
type LookupInAllReplicaOptions struct {
	Timeout        time.Duration // 0: the cluster's
	RetryStrategy  RetryStrategy // nil: the cluster's
	ParentSpan     RequestSpan
	ReadPreference ReadPreference
	Context        context.Context // nil: none. The operation ends when it does.

	Internal struct {
		DocFlags SubdocDocFlag
		User     string
	}
}

// LookupInAllReplicas reads parts of a document from all nodes that have it. The result has the answers in the order in which they come.
func (c *Collection) LookupInAllReplicas(id string, ops []LookupInSpec, opts *LookupInAllReplicaOptions) (*LookupInAllReplicasResult, error) {
	if opts == nil {
		opts = &LookupInAllReplicaOptions{}
	}
	read, err := c.lookUpReplicas(id, ops, opts)
	if err != nil {
		return nil, err
	}
	return &LookupInAllReplicasResult{read}, nil
}

func (c *Collection) lookUpReplicas(id string, ops []LookupInSpec, opts *LookupInAllReplicaOptions) (*replicaRead[*LookupInReplicaResult], error) {
	if _, _, err := encodeLookup(ops); err != nil {
		return nil, err
	}
	o := replicaOptions{opts.ReadPreference, operation.CapabilityReplicaLookup, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}}
	return readReplicas(c, id, o, func(copyIndex int, o callOptions) (*LookupInReplicaResult, error) {
		result, err := c.lookUp(kvLookupIn, id, ops, memd.DocFlags(opts.Internal.DocFlags), copyIndex, o)
		if err != nil {
			return nil, err
		}
		return &LookupInReplicaResult{LookupInResult: result, isReplica: copyIndex > 0}, nil
	})
}

// LookupInReplicaResult has the parts of one copy of a document.
type LookupInReplicaResult struct {
	*LookupInResult
	isReplica bool
}

// IsReplica reports whether the parts are those of a replica, which may be older than the active node's.
func (r *LookupInReplicaResult) IsReplica() bool { return r.isReplica }

// LookupInAllReplicasResult has the parts of the copies of a document. It is not safe for concurrent use.
type LookupInAllReplicasResult struct {
	read *replicaRead[*LookupInReplicaResult]
}

// Next waits for another copy, and returns its parts, or nil if there is none any more.
func (r *LookupInAllReplicasResult) Next() *LookupInReplicaResult {
	answer, _ := r.read.next()
	return answer
}

// Close ends the reads that are under way. It need not be called after Next has returned nil.
func (r *LookupInAllReplicasResult) Close() error {
	r.read.cancel()
	return nil
}

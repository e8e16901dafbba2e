package couchbase

import (
	"context"
	"time"
)

// GetAnyReplicaOptions are the options of [Collection.GetAnyReplica].
type GetAnyReplicaOptions struct {
	Transcoder     Transcoder    // nil: the cluster's
	Timeout        time.Duration // 0: the cluster's
	RetryStrategy  RetryStrategy // nil: the cluster's
	ParentSpan     RequestSpan
	ReadPreference ReadPreference
	Context        context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// GetAnyReplica reads a document from all nodes that have it, and returns the first answer. It fails with [ErrDocumentUnretrievable] if
// none has it.
func (c *Collection) GetAnyReplica(id string, opts *GetAnyReplicaOptions) (*GetReplicaResult, error) {
	if opts == nil {
		opts = &GetAnyReplicaOptions{}
	}
	read, err := c.getReplicas(id, (*GetAllReplicaOptions)(opts))
	if err != nil {
		return nil, err
	}
	return read.first()
}

// GetAllReplicaOptions are the options of [Collection.GetAllReplicas].
type GetAllReplicaOptions struct {
	Transcoder     Transcoder    // nil: the cluster's
	Timeout        time.Duration // 0: the cluster's
	RetryStrategy  RetryStrategy // nil: the cluster's
	ParentSpan     RequestSpan
	ReadPreference ReadPreference
	Context        context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// GetAllReplicas reads a document from all nodes that have it. The result has the answers in the order in which they come.
func (c *Collection) GetAllReplicas(id string, opts *GetAllReplicaOptions) (*GetAllReplicasResult, error) {
	if opts == nil {
		opts = &GetAllReplicaOptions{}
	}
	read, err := c.getReplicas(id, opts)
	if err != nil {
		return nil, err
	}
	return &GetAllReplicasResult{read}, nil
}

func (c *Collection) getReplicas(id string, opts *GetAllReplicaOptions) (*replicaRead[*GetReplicaResult], error) {
	o := replicaOptions{opts.ReadPreference, "", callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}}
	return readReplicas(c, id, o, func(copyIndex int, o callOptions) (result *GetReplicaResult, err error) {
		kind := kvGet
		if copyIndex > 0 {
			kind = kvGetReplica
		}
		call, err := c.call(kind, id, o, durability{})
		if err != nil {
			return nil, err
		}
		defer call.traced.ended(&err)
		call.Replica = copyIndex
		if err := call.run(); err != nil {
			return nil, err
		}
		result = &GetReplicaResult{isReplica: copyIndex > 0}
		if err := call.document(opts.Transcoder, &result.GetResult); err != nil {
			return nil, err
		}
		call.free()
		return result, nil
	})
}

// GetAllReplicasResult has the copies of a document. It is not safe for concurrent use.
type GetAllReplicasResult struct {
	read *replicaRead[*GetReplicaResult]
}

// Next waits for another copy, and returns it, or nil if there is none any more.
func (r *GetAllReplicasResult) Next() *GetReplicaResult {
	answer, _ := r.read.next()
	return answer
}

// Close ends the reads that are under way. It need not be called after Next has returned nil.
func (r *GetAllReplicasResult) Close() error {
	r.read.cancel()
	return nil
}

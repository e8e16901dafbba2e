package couchbase

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// LookupInOptions are the options of [Collection.LookupIn].
type LookupInOptions struct {
	Timeout       time.Duration // 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: none. The operation ends when it does.

	Internal struct {
		DocFlags SubdocDocFlag
		User     string
	}
}

// LookupIn reads up to 16 parts of a document. A part that fails has its error in the result.
func (c *Collection) LookupIn(id string, ops []LookupInSpec, opts *LookupInOptions) (docOut *LookupInResult, errOut error) {
	if opts == nil {
		opts = &LookupInOptions{}
	}
	return c.lookUp(kvLookupIn, id, ops, memd.DocFlags(opts.Internal.DocFlags), 0,
		callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User})
}

// lookupPart is the answer to one part of a look-up.
type lookupPart struct {
	op    memd.Opcode
	value []byte
	err   error
}

// LookupInResult has the parts of a document in the order of their specs.
type LookupInResult struct {
	Result
	parts []lookupPart
}

// ContentAt decodes part idx, as JSON, into valuePtr, or returns its error.
func (lir *LookupInResult) ContentAt(idx uint, valuePtr any) error {
	if idx >= uint(len(lir.parts)) {
		return invalid("idx is %d, but the look-up has %d parts", idx, len(lir.parts))
	}
	part := lir.parts[idx]
	if part.op == memd.OpSubdocExists && (part.err == nil || errors.Is(part.err, ErrPathNotFound)) {
		return decodeJSON(boolJSON(part.err == nil), valuePtr)
	}
	if part.err != nil {
		return part.err
	}
	return decodeJSON(part.value, valuePtr)
}

func boolJSON(b bool) []byte {
	encoded, _ := json.Marshal(b) // it cannot fail
	return encoded
}

// Exists reports whether the document has something at the path of part idx.
func (lir *LookupInResult) Exists(idx uint) bool {
	return idx < uint(len(lir.parts)) && lir.parts[idx].err == nil
}

// lookUp runs a look-up on the active node, or on a replica.
func (c *Collection) lookUp(kind *kvOperation, id string, ops []LookupInSpec, flags memd.DocFlags, replica int, o callOptions) (result *LookupInResult, err error) {
	value, order, err := encodeLookup(ops)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kind, id, o, durability{})
	if err != nil {
		return nil, err
	}
	defer call.traced.ended(&err)
	call.Value, call.Replica = value, replica
	if replica > 0 {
		flags |= memd.DocReplicaRead
	}
	call.Extras = memd.AppendMultiExtras(call.room(), memd.MultiExtras{Doc: flags})
	if err := call.run(); err != nil {
		return nil, err
	}
	answers, err := memd.ParseLookupResults(call.result.Packet.Value, len(ops))
	if err != nil {
		return nil, call.unreadable(err)
	}
	result = &LookupInResult{Result: Result{Cas(call.result.Packet.CAS)}, parts: make([]lookupPart, len(ops))}
	for i, answer := range answers {
		part := lookupPart{op: ops[order[i]].op, value: answer.Value}
		if answer.Status != memd.StatusSuccess && answer.Status != memd.StatusSuccessDeleted {
			part.err = c.partError(id, order[i], answer.Status)
		}
		result.parts[order[i]] = part
	}
	call.free()
	return result, nil
}

// partError is the error of the part of a look-up with this index.
func (c *Collection) partError(id string, index int, status memd.Status) error {
	kind := operation.KindOf(status)
	if kind == nil {
		kind = errors.New(status.String())
	}
	return &KeyValueError{
		InnerError: &partFailure{index, kind}, StatusCode: StatusCode(status), DocumentID: id, BucketName: c.bucket.name, ScopeName: c.scope, CollectionName: c.name,
	}
}

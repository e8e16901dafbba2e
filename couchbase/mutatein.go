package couchbase

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// MutateInOptions are the options of [Collection.MutateIn].
type MutateInOptions struct {
	Expiry          time.Duration // 0: the document never expires
	Cas             Cas           // the document must have this version; 0: any. Not together with StoreSemanticsInsert.
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	DurabilityLevel DurabilityLevel
	StoreSemantic   StoreSemantics
	Timeout         time.Duration // 0: the cluster's
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	PreserveExpiry  bool            // the document keeps its expiry. Not together with Expiry, unless the document may be new.
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		DocFlags SubdocDocFlag
		User     string
	}
}

// check returns an error if options contradict each other.
func (o *MutateInOptions) check() error {
	switch {
	case o.StoreSemantic > StoreSemanticsInsert:
		return invalid("StoreSemantic %d does not exist", o.StoreSemantic)
	case o.StoreSemantic == StoreSemanticsInsert && o.Cas != 0:
		return invalid("Cas and StoreSemanticsInsert exclude each other: a new document has no version")
	case o.StoreSemantic == StoreSemanticsInsert && o.PreserveExpiry:
		return invalid("PreserveExpiry and StoreSemanticsInsert exclude each other: a new document has no expiry")
	case o.StoreSemantic == StoreSemanticsReplace && o.PreserveExpiry && o.Expiry != 0:
		return invalid("Expiry and PreserveExpiry exclude each other")
	}
	return nil
}

// MutateIn changes up to 16 parts of a document: all or none.
func (c *Collection) MutateIn(id string, ops []MutateInSpec, opts *MutateInOptions) (mutOut *MutateInResult, errOut error) {
	if opts == nil {
		opts = &MutateInOptions{}
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	d, err := parseDurability(opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo)
	if err != nil {
		return nil, err
	}
	extras := memd.MultiExtras{HasExpiry: opts.Expiry != 0, Doc: memd.DocFlags(opts.Internal.DocFlags)}
	if extras.Expiry, err = encodeExpiry("Expiry", opts.Expiry); err != nil {
		return nil, err
	}
	switch opts.StoreSemantic {
	case StoreSemanticsUpsert:
		extras.Doc |= memd.DocUpsert
	case StoreSemanticsInsert:
		extras.Doc |= memd.DocInsert
	case StoreSemanticsReplace:
	}
	value, order, err := encodeMutation(ops)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kvMutateIn, id, callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User}, d)
	if err != nil {
		return nil, err
	}
	call.CAS, call.Value, call.PreserveExpiry = uint64(opts.Cas), value, opts.PreserveExpiry
	call.Extras = memd.AppendMultiExtras(call.room(), extras)
	return call.mutateIn(order)
}

// mutateIn runs the operation. order has the places of its parts in the caller's list.
func (c *kvCall) mutateIn(order []int) (result *MutateInResult, err error) {
	defer c.traced.ended(&err)
	if err := c.run(); err != nil {
		return nil, namePart(err, order)
	}
	answers, err := memd.ParseMutationResults(c.result.Packet.Value, len(order))
	if err != nil {
		return nil, c.unreadable(err)
	}
	result = &MutateInResult{values: make([][]byte, len(order))}
	for _, answer := range answers {
		result.values[order[answer.Index]] = answer.Value
	}
	if err := c.mutation(&result.MutationResult, new(MutationToken)); err != nil {
		return nil, err
	}
	if err := c.observeDurability(&result.MutationResult); err != nil {
		return nil, err
	}
	c.free()
	return result, nil
}

// MutateInResult has what the parts of a change answered: counters answer with their new value, the others with nothing.
type MutateInResult struct {
	MutationResult
	values [][]byte
}

// ContentAt decodes the answer of part idx, as JSON, into valuePtr. A part without an answer is an error that matches [ErrNoResult].
func (mir MutateInResult) ContentAt(idx uint, valuePtr any) error {
	if idx >= uint(len(mir.values)) {
		return invalid("idx is %d, but the change has %d parts", idx, len(mir.values))
	}
	if mir.values[idx] == nil {
		return ErrNoResult
	}
	return decodeJSON(mir.values[idx], valuePtr)
}

package couchbase

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// InsertOptions are the options of [Collection.Insert].
type InsertOptions struct {
	Expiry          time.Duration // 0: the document never expires
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	DurabilityLevel DurabilityLevel
	Transcoder      Transcoder    // nil: the cluster's
	Timeout         time.Duration // 0: the cluster's
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Insert makes a document. It fails with [ErrDocumentExists] if there is one with that id.
func (c *Collection) Insert(id string, val any, opts *InsertOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &InsertOptions{}
	}
	return c.store(kvInsert, id, storeOptions{
		val, opts.Transcoder, opts.Expiry, 0, false, opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo,
		callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User},
	})
}

// UpsertOptions are the options of [Collection.Upsert].
type UpsertOptions struct {
	Expiry          time.Duration // 0: the document never expires
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	DurabilityLevel DurabilityLevel
	Transcoder      Transcoder    // nil: the cluster's
	Timeout         time.Duration // 0: the cluster's
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	PreserveExpiry  bool            // a document that exists keeps its expiry; Expiry is that of a new one
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Upsert makes a document or replaces the one that is there.
func (c *Collection) Upsert(id string, val any, opts *UpsertOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &UpsertOptions{}
	}
	return c.store(kvUpsert, id, storeOptions{
		val, opts.Transcoder, opts.Expiry, 0, opts.PreserveExpiry, opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo,
		callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User},
	})
}

// ReplaceOptions are the options of [Collection.Replace].
type ReplaceOptions struct {
	Expiry          time.Duration // 0: the document never expires
	Cas             Cas           // the document must have this version; 0: any
	PersistTo       uint          // the nodes that must have the write on disk, observed by the client
	ReplicateTo     uint          // the replicas that must have the write, observed by the client
	DurabilityLevel DurabilityLevel
	Transcoder      Transcoder    // nil: the cluster's
	Timeout         time.Duration // 0: the cluster's
	RetryStrategy   RetryStrategy // nil: the cluster's
	ParentSpan      RequestSpan
	PreserveExpiry  bool            // the document keeps its expiry. Not together with Expiry.
	Context         context.Context // nil: none. The operation ends when it does.

	Internal struct {
		User string
	}
}

// Replace replaces a document. It fails with [ErrDocumentNotFound] if there is none, and with [ErrCasMismatch] if it has another
// version than ReplaceOptions.Cas.
func (c *Collection) Replace(id string, val any, opts *ReplaceOptions) (mutOut *MutationResult, errOut error) {
	if opts == nil {
		opts = &ReplaceOptions{}
	}
	if opts.PreserveExpiry && opts.Expiry != 0 {
		return nil, invalid("Expiry and PreserveExpiry exclude each other")
	}
	return c.store(kvReplace, id, storeOptions{
		val, opts.Transcoder, opts.Expiry, opts.Cas, opts.PreserveExpiry, opts.DurabilityLevel, opts.PersistTo, opts.ReplicateTo,
		callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User},
	})
}

// storeOptions are the options of Insert, Upsert and Replace together.
type storeOptions struct {
	value                  any
	transcoder             Transcoder
	expiry                 time.Duration
	cas                    Cas
	preserveExpiry         bool
	level                  DurabilityLevel
	persistTo, replicateTo uint
	call                   callOptions
}

func (c *Collection) store(kind *kvOperation, id string, o storeOptions) (*MutationResult, error) {
	d, err := parseDurability(o.level, o.persistTo, o.replicateTo)
	if err != nil {
		return nil, err
	}
	expiry, err := encodeExpiry("Expiry", o.expiry)
	if err != nil {
		return nil, err
	}
	call, err := c.call(kind, id, o.call, d)
	if err != nil {
		return nil, err
	}
	value, flags, err := call.encode(c.transcoder(o.transcoder), o.value)
	if err != nil {
		return nil, err
	}
	call.CAS, call.PreserveExpiry, call.Value = uint64(o.cas), o.preserveExpiry, value
	call.Extras = memd.AppendStore(call.room(), flags, expiry)
	return call.write()
}

package couchbase

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// unreadable is the error about an answer that cannot be understood.
func (c *kvCall) unreadable(err error) error {
	return &KeyValueError{
		InnerError: &failure{ErrDecodingFailure, fmt.Errorf("couchbase: the answer to %s cannot be read: %w", c.kind.name, err)},
		DocumentID: string(c.Key), BucketName: c.collection.bucket.name, ScopeName: c.collection.scope, CollectionName: c.collection.name,
		CollectionID: c.result.CollectionID, LastDispatchedTo: c.result.Conn.Address(), LastConnectionID: c.result.Conn.ID(),
	}
}

// document returns the document in the answer.
func (c *kvCall) document(t Transcoder, into *GetResult) error {
	p := &c.result.Packet
	flags, err := memd.ParseUint32(p.Extras)
	if err != nil {
		return c.unreadable(err)
	}
	into.cas, into.transcoder, into.contents, into.flags = Cas(p.CAS), c.collection.transcoder(t), p.Value, flags
	return nil
}

// mutation returns what the answer says about the write.
func (c *kvCall) mutation() (MutationResult, error) {
	p := &c.result.Packet
	token, ok, err := memd.ParseMutationToken(p.Extras)
	if err != nil {
		return MutationResult{}, c.unreadable(err)
	}
	result := MutationResult{Result: Result{Cas(p.CAS)}}
	if ok {
		result.token = &MutationToken{vbucket: c.result.VBucket, token: token, bucket: c.collection.bucket.name}
	}
	return result, nil
}

// transcoder returns the transcoder of an operation.
func (c *Collection) transcoder(t Transcoder) Transcoder {
	if t == nil {
		return c.bucket.cluster.settings.transcoder
	}
	return t
}

// write runs a write whose answer is a MutationResult, and then waits for the durability that the client observes.
func (c *kvCall) write() (*MutationResult, error) {
	if err := c.run(); err != nil {
		return nil, err
	}
	result, err := c.mutation()
	if err != nil {
		return nil, err
	}
	if err := c.observeDurability(&result); err != nil {
		return nil, err
	}
	c.free()
	return &result, nil
}

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

// mutation reads what the answer says about the write. token is where the write's name is stored.
func (c *kvCall) mutation(into *MutationResult, token *MutationToken) error {
	p := &c.result.Packet
	name, ok, err := memd.ParseMutationToken(p.Extras)
	if err != nil {
		return c.unreadable(err)
	}
	into.cas = Cas(p.CAS)
	if ok {
		*token = MutationToken{vbucket: c.result.VBucket, token: name, bucket: c.collection.bucket.name}
		into.token = token
	}
	return nil
}

// transcoder returns the transcoder of an operation.
func (c *Collection) transcoder(t Transcoder) Transcoder {
	if t == nil {
		return c.bucket.cluster.settings.transcoder
	}
	return t
}

// write runs a write whose answer is a MutationResult, and then waits for the durability that the client observes.
func (c *kvCall) write() (result *MutationResult, err error) {
	defer c.traced.ended(&err)
	if err := c.run(); err != nil {
		return nil, err
	}
	var answer struct { // one allocation
		result MutationResult
		token  MutationToken
	}
	if err := c.mutation(&answer.result, &answer.token); err != nil {
		return nil, err
	}
	if err := c.observeDurability(&answer.result); err != nil {
		return nil, err
	}
	c.free()
	return &answer.result, nil
}

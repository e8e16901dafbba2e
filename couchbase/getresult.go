package couchbase

import "time"

// GetResult is a document.
type GetResult struct {
	Result
	transcoder Transcoder
	contents   []byte
	flags      uint32
	expiry     *time.Time // nil: it was not asked for; zero: the document never expires
}

// Content decodes the document with the operation's transcoder into valuePtr.
func (d *GetResult) Content(valuePtr any) error {
	if d.transcoder == nil {
		return invalid("the result is not that of an operation")
	}
	return d.transcoder.Decode(d.contents, d.flags, valuePtr)
}

// ExpiryTime returns when the document expires. It is the zero time if it never does, or if GetOptions.WithExpiry was not set.
func (d *GetResult) ExpiryTime() time.Time {
	if d.expiry == nil {
		return time.Time{}
	}
	return *d.expiry
}

// Expiry returns how long the document still lives: nil if GetOptions.WithExpiry was not set, 0 if it never expires.
//
// Deprecated: use ExpiryTime.
func (d *GetResult) Expiry() *time.Duration {
	if d.expiry == nil {
		return nil
	}
	var left time.Duration
	if !d.expiry.IsZero() {
		left = time.Until(*d.expiry)
	}
	return &left
}

// GetReplicaResult is a document that any node answered with.
type GetReplicaResult struct {
	GetResult
	isReplica bool
}

// IsReplica reports whether the document is that of a replica, which may be older than the active node's.
func (r *GetReplicaResult) IsReplica() bool { return r.isReplica }

// ExistsResult is the answer of [Collection.Exists].
type ExistsResult struct {
	Result
	exists bool
}

// Exists reports whether the document exists.
func (d *ExistsResult) Exists() bool { return d.exists }

// MutationResult is the answer to a write.
type MutationResult struct {
	Result
	token *MutationToken
}

// MutationToken returns the name of the write, or nil if the server told none.
func (mr MutationResult) MutationToken() *MutationToken { return mr.token }

// CounterResult is the answer to [BinaryCollection.Increment] and [BinaryCollection.Decrement].
type CounterResult struct {
	MutationResult
	content uint64
}

// MutationToken returns the name of the write, or nil if the server told none.
func (mr CounterResult) MutationToken() *MutationToken { return mr.token }

// Cas returns the document's version.
func (mr CounterResult) Cas() Cas { return mr.cas }

// Content returns the counter's new value.
func (mr CounterResult) Content() uint64 { return mr.content }

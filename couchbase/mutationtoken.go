package couchbase

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// MutationToken names a write: a later query can ask to see it. See [MutationState].
type MutationToken struct {
	vbucket uint16
	token   memd.MutationToken
	bucket  string
}

// BucketName returns the bucket.
func (mt MutationToken) BucketName() string { return mt.bucket }

// PartitionUUID returns the id of the vbucket's history.
func (mt MutationToken) PartitionUUID() uint64 { return mt.token.VBucketUUID }

// PartitionID returns the vbucket.
func (mt MutationToken) PartitionID() uint64 { return uint64(mt.vbucket) }

// SequenceNumber returns the place of the write in the vbucket's history.
func (mt MutationToken) SequenceNumber() uint64 { return mt.token.Seqno }

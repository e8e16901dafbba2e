package couchbase

import "github.com/holdfast-db/holdfast/internal/couchbase/cluster"

// Bucket is a bucket of a cluster. It is safe for concurrent use.
type Bucket struct {
	cluster *Cluster
	name    string
	bucket  *cluster.Bucket // nil: the name is empty
}

// Name returns the bucket's name.
func (b *Bucket) Name() string { return b.name }

// Scope returns a scope of the bucket. It need not exist yet.
func (b *Bucket) Scope(scopeName string) *Scope { return &Scope{bucket: b, name: scopeName} }

// DefaultScope returns the scope that every bucket has.
func (b *Bucket) DefaultScope() *Scope { return b.Scope(cluster.DefaultName) }

// Collection returns a collection of the default scope. It need not exist yet.
func (b *Bucket) Collection(collectionName string) *Collection {
	return b.DefaultScope().Collection(collectionName)
}

// DefaultCollection returns the collection that every bucket has.
func (b *Bucket) DefaultCollection() *Collection { return b.Collection(cluster.DefaultName) }

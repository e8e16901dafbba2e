package couchbase

import "github.com/holdfast-db/holdfast/internal/couchbase/cluster"

// Collection is a collection of documents. It is safe for concurrent use. Operations block until they have a result or an error; no
// order is promised between operations of several goroutines.
type Collection struct {
	bucket      *Bucket
	scope, name string
	collection  *cluster.Collection // nil: a name is empty
}

// Name returns the collection's name.
func (c *Collection) Name() string { return c.name }

// ScopeName returns the name of the collection's scope.
func (c *Collection) ScopeName() string { return c.scope }

// Bucket returns the collection's bucket.
func (c *Collection) Bucket() *Bucket { return c.bucket }

// Binary returns the operations on documents that are bytes or counters.
func (c *Collection) Binary() *BinaryCollection { return &BinaryCollection{c} }

// BinaryCollection has the operations on documents that are bytes or counters. It is safe for concurrent use.
type BinaryCollection struct {
	collection *Collection
}

// check returns an error if a name is empty.
func (c *Collection) check() error {
	switch {
	case c.bucket.name == "":
		return invalid("the name of the bucket is empty")
	case c.scope == "":
		return invalid("the name of the scope is empty")
	case c.name == "":
		return invalid("the name of the collection is empty")
	}
	return c.bucket.cluster.usable()
}

package couchbase

// Scope is a scope of a bucket. It is safe for concurrent use.
type Scope struct {
	bucket *Bucket
	name   string
}

// Name returns the scope's name.
func (s *Scope) Name() string { return s.name }

// BucketName returns the name of the scope's bucket.
func (s *Scope) BucketName() string { return s.bucket.name }

// Collection returns a collection of the scope. It need not exist yet.
func (s *Scope) Collection(collectionName string) *Collection {
	c := &Collection{bucket: s.bucket, scope: s.name, name: collectionName}
	if b := s.bucket.bucket; b != nil && s.name != "" && collectionName != "" {
		c.collection = b.Collection(s.name, collectionName)
	}
	return c
}

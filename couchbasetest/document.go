package couchbasetest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Document is a document as a node has it.
type Document struct {
	Value  []byte
	Xattrs []byte // a JSON object with the extended attributes, nil if there are none
	Flags  uint32
	Expiry time.Time // zero: none
	CAS    uint64
	Seqno  uint64
}

// Document returns a document of the default collection as the owner of its vbucket has it. It reports false if the document does not
// exist. It panics if there is no such bucket.
func (c *Cluster) Document(bucketName, key string) (Document, bool) {
	return c.DocumentIn(bucketName, defaultName, defaultName, key)
}

// DocumentIn is [Cluster.Document] for any collection.
func (c *Cluster) DocumentIn(bucketName, scopeName, collectionName, key string) (Document, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucketLocked("Document", bucketName)
	_, v := b.active(b.vbucketOf(key))
	if v == nil {
		return Document{}, false
	}
	return b.show(v, scopeName, collectionName, key)
}

// DocumentAt returns a document of the default collection as a node has it, whether active or a replica.
func (c *Cluster) DocumentAt(node int, bucketName, key string) (Document, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, n := c.bucketLocked("DocumentAt", bucketName), c.nodeLocked("DocumentAt", node)
	vb := b.vbucketOf(key)
	c.replicateLocked(b, vb, time.Now())
	copies := n.copies[b]
	if copies == nil || copies[vb].State == store.Dead {
		return Document{}, false
	}
	return b.show(&copies[vb], defaultName, defaultName, key)
}

func (b *bucket) show(v *store.VBucket, scopeName, collectionName, key string) (Document, bool) {
	_, in, err := b.manifest.locate(scopeName, collectionName)
	if err != nil {
		panic(fmt.Sprintf("couchbasetest: Document: %v", err))
	}
	d := v.Get(store.Key{Collection: in.id, Name: key}, time.Now())
	if d == nil {
		return Document{}, false
	}
	shown := Document{Value: bytes.Clone(d.Value), Xattrs: bytes.Clone(d.Xattrs), Flags: d.Flags, CAS: d.CAS, Seqno: d.Seqno}
	if d.Expiry != 0 {
		shown.Expiry = time.Unix(int64(d.Expiry), 0)
	}
	return shown, true
}

func (b *bucket) vbucketOf(key string) uint16 { return memd.VBucket([]byte(key), b.vbuckets) }

// Owners returns the nodes that have the document of a key: first the active one, then the replicas; -1 where there is none.
func (c *Cluster) Owners(bucketName, key string) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucketLocked("Owners", bucketName)
	return append([]int(nil), b.rows[b.vbucketOf(key)]...)
}

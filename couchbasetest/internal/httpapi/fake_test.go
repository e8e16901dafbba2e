package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// fakeCluster is a cluster without data.
type fakeCluster struct {
	mu        sync.Mutex
	identity  Identity
	nodes     []Node
	buckets   []Bucket
	manifests map[string]*Manifest
	rev       int
	changed   chan struct{}
	flushed   []string
	limit     int // of collections in a scope; 0: none
}

var _ Cluster = (*fakeCluster)(nil)

func newFake() *fakeCluster {
	f := &fakeCluster{
		identity:  Identity{UUID: "c1", Name: "test", Version: "7.6.4-5146-enterprise", Release: Release{7, 6, 4}, SharedPreparedStatements: true},
		manifests: map[string]*Manifest{}, rev: 1, changed: make(chan struct{}),
	}
	for i := range 2 {
		f.nodes = append(f.nodes, Node{
			ID: NodeID(i), UUID: fmt.Sprint("n", i), Hostname: fmt.Sprint("node", i), Healthy: true, Member: i == 0,
			Ports: map[string]int{"kv": 11210, "mgmt": 8091, "n1ql": 8093, "fts": 8094, "capi": 8092},
		})
	}
	if err := f.CreateBucket(Bucket{
		Name: "default", Type: "membase", Storage: "couchstore", VBuckets: 64, RAMQuota: 256 << 20, Replicas: 1,
		Eviction: "valueOnly", Compression: "passive", MinimumDurability: "none", ConflictResolution: "seqno",
	}); err != nil {
		panic(err)
	}
	return f
}

func (f *fakeCluster) Identity() Identity {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.identity
}

func (f *fakeCluster) Rename(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.identity.Name = name
}

func (f *fakeCluster) Nodes() []Node { return f.nodes }

func (f *fakeCluster) Map(node NodeID, bucket string) ([]byte, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bucket != "" && f.bucket(bucket) < 0 {
		return nil, nil, ErrBucketNotFound
	}
	m := map[string]any{"rev": f.rev, "name": bucket, "thisNode": node, "bucketCapabilities": []string{"collections"}}
	b, err := json.Marshal(m)
	return b, f.changed, err
}

// newMap makes a newer map.
func (f *fakeCluster) newMap() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance()
}

func (f *fakeCluster) advance() {
	f.rev++
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeCluster) Login(c Credential) (User, bool) {
	if c.User == "Administrator" && c.Password == "password" || c.Token == "token" {
		return f.Users()[0], true
	}
	return User{}, false
}

func (f *fakeCluster) Users() []User {
	return []User{
		{Name: "Administrator", FullName: "The Administrator", Roles: []Role{{Name: "admin"}}},
		{Name: "reader", Roles: []Role{{Name: "data_reader", Bucket: "default", Scope: "s"}}},
	}
}

func (f *fakeCluster) bucket(name string) int {
	return slices.IndexFunc(f.buckets, func(b Bucket) bool { return b.Name == name })
}

func (f *fakeCluster) Buckets() []Bucket {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.buckets)
}

func (f *fakeCluster) CreateBucket(b Bucket) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bucket(b.Name) >= 0 {
		return ErrBucketExists
	}
	b.UUID = fmt.Sprint("b", f.rev)
	f.buckets = append(f.buckets, b)
	slices.SortFunc(f.buckets, func(a, b Bucket) int { return strings.Compare(a.Name, b.Name) })
	f.manifests[b.Name] = &Manifest{UID: 10, Scopes: []Scope{{Name: "_default", Collections: []Collection{{Name: "_default"}}}}}
	f.advance()
	return nil
}

func (f *fakeCluster) UpdateBucket(b Bucket) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.bucket(b.Name)
	if i < 0 {
		return ErrBucketNotFound
	}
	f.buckets[i] = b
	return nil
}

func (f *fakeCluster) DropBucket(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.bucket(name)
	if i < 0 {
		return ErrBucketNotFound
	}
	f.buckets = slices.Delete(f.buckets, i, i+1)
	delete(f.manifests, name)
	f.advance()
	return nil
}

func (f *fakeCluster) FlushBucket(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushed = append(f.flushed, name)
	return nil
}

func (f *fakeCluster) Manifest(bucket string) (Manifest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.manifests[bucket]
	if m == nil {
		return Manifest{}, ErrBucketNotFound
	}
	return *m, nil
}

// change changes the manifest of a bucket.
func (f *fakeCluster) change(bucket string, change func(*Manifest) error) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.manifests[bucket]
	if m == nil {
		return 0, ErrBucketNotFound
	}
	if err := change(m); err != nil {
		return 0, err
	}
	m.UID++
	return m.UID, nil
}

func scopeIndex(m *Manifest, name string) int {
	return slices.IndexFunc(m.Scopes, func(s Scope) bool { return s.Name == name })
}

func (f *fakeCluster) CreateScope(bucket, scope string) (uint64, error) {
	return f.change(bucket, func(m *Manifest) error {
		if scopeIndex(m, scope) >= 0 {
			return ErrScopeExists
		}
		m.Scopes = append(m.Scopes, Scope{Name: scope, UID: m.UID})
		return nil
	})
}

func (f *fakeCluster) DropScope(bucket, scope string) (uint64, error) {
	return f.change(bucket, func(m *Manifest) error {
		i := scopeIndex(m, scope)
		if i < 0 {
			return ErrScopeNotFound
		}
		m.Scopes = slices.Delete(m.Scopes, i, i+1)
		return nil
	})
}

// inScope changes the collections of a scope.
func (f *fakeCluster) inScope(bucket, scope, collection string, change func(s *Scope, i int) error) (uint64, error) {
	return f.change(bucket, func(m *Manifest) error {
		i := scopeIndex(m, scope)
		if i < 0 {
			return ErrScopeNotFound
		}
		s := &m.Scopes[i]
		return change(s, slices.IndexFunc(s.Collections, func(c Collection) bool { return c.Name == collection }))
	})
}

func (f *fakeCluster) CreateCollection(bucket, scope string, c Collection) (uint64, error) {
	return f.inScope(bucket, scope, c.Name, func(s *Scope, i int) error {
		switch {
		case i >= 0:
			return ErrCollectionExists
		case f.limit > 0 && len(s.Collections) >= f.limit:
			return &LimitError{"collections"}
		}
		c.UID = 8
		s.Collections = append(s.Collections, c)
		return nil
	})
}

func (f *fakeCluster) UpdateCollection(bucket, scope string, c CollectionChange) (uint64, error) {
	return f.inScope(bucket, scope, c.Name, func(s *Scope, i int) error {
		if i < 0 {
			return ErrCollectionNotFound
		}
		if c.MaxExpiry != nil {
			s.Collections[i].MaxExpiry = *c.MaxExpiry
		}
		if c.History != nil {
			s.Collections[i].History = c.History
		}
		return nil
	})
}

func (f *fakeCluster) DropCollection(bucket, scope, collection string) (uint64, error) {
	return f.inScope(bucket, scope, collection, func(s *Scope, i int) error {
		if i < 0 {
			return ErrCollectionNotFound
		}
		s.Collections = slices.Delete(s.Collections, i, i+1)
		return nil
	})
}

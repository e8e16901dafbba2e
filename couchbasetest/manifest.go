package couchbasetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// defaultName is that of the scope and of the collection that each bucket has.
const defaultName = "_default"

// Collection is a collection with its settings.
type Collection struct {
	Name string
	// MaxExpiry is the longest time that a document lives. 0: the bucket's holds; below 0: documents live for ever.
	MaxExpiry time.Duration
	// History is whether old versions are kept; nil: as the bucket says now. It is only kept and shown.
	History *bool
}

// manifest is the scopes and collections of a bucket. It is guarded by the cluster's mutex.
type manifest struct {
	uid    uint64
	nextID uint32
	scopes []*scope
}

type scope struct {
	name        string
	id          uint32
	collections []*collection
}

type collection struct {
	Collection
	id uint32
}

// newManifest returns the manifest of a new bucket. Its collection says something of its history only if it has one.
func newManifest(history bool) manifest {
	first := &collection{Collection: Collection{Name: defaultName}}
	if history {
		first.History = &history
	}
	return manifest{nextID: firstUsersCollection, scopes: []*scope{{name: defaultName, collections: []*collection{first}}}}
}

func (m *manifest) scope(name string) *scope {
	i := slices.IndexFunc(m.scopes, func(s *scope) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return m.scopes[i]
}

func (s *scope) collection(name string) *collection {
	i := slices.IndexFunc(s.collections, func(c *collection) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return s.collections[i]
}

// find returns a collection by its id, nil if there is none.
func (m *manifest) find(id uint32) *collection {
	for _, s := range m.scopes {
		for _, c := range s.collections {
			if c.id == id {
				return c
			}
		}
	}
	return nil
}

// CollectionName returns the names of a collection and of its scope by its id, and false if there is none with it.
func (c *Cluster) CollectionName(bucketName string, id uint32) (scope, name string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[bucketName]
	if b == nil {
		return "", "", false
	}
	for _, s := range b.manifest.scopes {
		for _, one := range s.collections {
			if one.id == id {
				return s.name, one.Name, true
			}
		}
	}
	return "", "", false
}

func (m *manifest) has(id uint32) bool { return m.find(id) != nil }

// clone returns a copy that does not change.
func (m *manifest) clone() *manifest {
	kept := &manifest{uid: m.uid, nextID: m.nextID}
	for _, s := range m.scopes {
		scopeKept := &scope{name: s.name, id: s.id}
		for _, c := range s.collections {
			collectionKept := *c
			scopeKept.collections = append(scopeKept.collections, &collectionKept)
		}
		kept.scopes = append(kept.scopes, scopeKept)
	}
	return kept
}

// HoldManifests makes a node keep the scopes and collections that it knows now, and learn of no newer ones.
func (c *Cluster) HoldManifests(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked("HoldManifests", node)
	n.held = make(map[*bucket]*manifest)
	for _, b := range c.buckets {
		n.held[b] = b.manifest.clone()
	}
}

// ReleaseManifests ends HoldManifests.
func (c *Cluster) ReleaseManifests(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodeLocked("ReleaseManifests", node).held = nil
}

// manifest returns the scopes and collections that the node knows.
func (x *exec) manifest() *manifest {
	if held := x.node.held[x.bucket]; held != nil {
		return held
	}
	return &x.bucket.manifest
}

// toJSON returns the manifest as nodes serve it, which is not as the management service does: what the bucket decides is not in it.
func (m *manifest) toJSON() any {
	type collectionJSON struct {
		Name    string `json:"name"`
		UID     string `json:"uid"`
		MaxTTL  *int64 `json:"maxTTL,omitempty"` // 0: documents live for ever
		History bool   `json:"history,omitempty"`
	}
	type scopeJSON struct {
		Name        string           `json:"name"`
		UID         string           `json:"uid"`
		Collections []collectionJSON `json:"collections"`
	}
	hex := func(n uint64) string { return strconv.FormatUint(n, 16) }
	scopes := []scopeJSON{}
	for _, s := range m.scopes {
		j := scopeJSON{Name: s.name, UID: hex(uint64(s.id)), Collections: []collectionJSON{}}
		for _, c := range s.collections {
			cj := collectionJSON{Name: c.Name, UID: hex(uint64(c.id)), History: c.History != nil && *c.History}
			if c.MaxExpiry != 0 {
				seconds := max(int64(c.MaxExpiry/time.Second), 0)
				cj.MaxTTL = &seconds
			}
			j.Collections = append(j.Collections, cj)
		}
		scopes = append(scopes, j)
	}
	return map[string]any{"uid": hex(m.uid), "scopes": scopes}
}

var (
	errScopeExists        = errors.New("the scope exists")
	errScopeNotFound      = errors.New("the scope was not found")
	errCollectionExists   = errors.New("the collection exists")
	errCollectionNotFound = errors.New("the collection was not found")
)

// changeManifest changes the manifest of a bucket and returns its new uid.
func (c *Cluster) changeManifest(name string, change func(b *bucket) error) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[name]
	if b == nil {
		return 0, fmt.Errorf("couchbasetest: %q: %w", name, errBucketNotFound)
	}
	if err := change(b); err != nil {
		return 0, fmt.Errorf("couchbasetest: bucket %q: %w", name, err)
	}
	b.manifest.uid++
	return b.manifest.uid, nil
}

// CreateScope makes a scope in a bucket and returns the manifest's new uid.
func (c *Cluster) CreateScope(bucketName, name string) (uid uint64, err error) {
	return c.changeManifest(bucketName, func(b *bucket) error {
		m := &b.manifest
		if m.scope(name) != nil {
			return fmt.Errorf("%q: %w", name, errScopeExists)
		}
		m.scopes = append(m.scopes, &scope{name: name, id: m.newID()})
		return nil
	})
}

func (m *manifest) newID() uint32 {
	m.nextID++
	return m.nextID - 1
}

// DropScope removes a scope with its collections and their documents, and returns the manifest's new uid.
func (c *Cluster) DropScope(bucketName, name string) (uid uint64, err error) {
	return c.changeManifest(bucketName, func(b *bucket) error {
		s := b.manifest.scope(name)
		if s == nil {
			return fmt.Errorf("%q: %w", name, errScopeNotFound)
		}
		for _, dropped := range s.collections {
			b.forget(dropped.id)
		}
		b.manifest.scopes = slices.DeleteFunc(b.manifest.scopes, func(other *scope) bool { return other == s })
		return nil
	})
}

// forget removes the documents of a collection.
func (b *bucket) forget(collection uint32) {
	for _, n := range b.members {
		for vb := range b.cluster.nodes[n].copies[b] {
			b.cluster.nodes[n].copies[b][vb].Drop(collection)
		}
	}
}

// CreateCollection makes a collection in a scope and returns the manifest's new uid.
func (c *Cluster) CreateCollection(bucketName, scopeName string, settings Collection) (uid uint64, err error) {
	return c.changeManifest(bucketName, func(b *bucket) error {
		s := b.manifest.scope(scopeName)
		switch {
		case s == nil:
			return fmt.Errorf("%q: %w", scopeName, errScopeNotFound)
		case s.collection(settings.Name) != nil:
			return fmt.Errorf("%q: %w", settings.Name, errCollectionExists)
		}
		b.decideHistory(&settings)
		s.collections = append(s.collections, &collection{Collection: settings, id: b.manifest.newID()})
		return nil
	})
}

// UpdateCollection gives a collection other settings and returns the manifest's new uid.
func (c *Cluster) UpdateCollection(bucketName, scopeName string, settings Collection) (uid uint64, err error) {
	return c.changeManifest(bucketName, func(b *bucket) error {
		_, found, err := b.manifest.locate(scopeName, settings.Name)
		if err == nil {
			b.decideHistory(&settings)
			found.Collection = settings
		}
		return err
	})
}

// decideHistory gives a collection the bucket's setting of its history if it has none. Servers before 7.2 know no history.
func (b *bucket) decideHistory(c *Collection) {
	if c.History == nil && b.cluster.profile.atLeast(7, 2) {
		history := b.shown.HistoryDefault
		c.History = &history
	}
}

func (m *manifest) locate(scopeName, name string) (*scope, *collection, error) {
	s := m.scope(scopeName)
	if s == nil {
		return nil, nil, fmt.Errorf("%q: %w", scopeName, errScopeNotFound)
	}
	found := s.collection(name)
	if found == nil {
		return nil, nil, fmt.Errorf("%q: %w", name, errCollectionNotFound)
	}
	return s, found, nil
}

// DropCollection removes a collection with its documents, and returns the manifest's new uid.
func (c *Cluster) DropCollection(bucketName, scopeName, name string) (uid uint64, err error) {
	return c.changeManifest(bucketName, func(b *bucket) error {
		s, found, err := b.manifest.locate(scopeName, name)
		if err != nil {
			return err
		}
		b.forget(found.id)
		s.collections = slices.DeleteFunc(s.collections, func(other *collection) bool { return other == found })
		return nil
	})
}

package couchbasetest

import (
	"crypto/hmac"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
)

// management is the cluster as its management service sees it.
type management struct{ *Cluster }

var _ httpapi.Cluster = management{}

// Identity returns the cluster's names and version.
func (m management) Identity() httpapi.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return httpapi.Identity{
		UUID: m.uuid, Name: m.name, Version: m.profile.version + "-1000-enterprise", Release: m.profile.number,
		SharedPreparedStatements: m.profile.atLeast(6, 5),
	}
}

// Rename changes the name of the cluster.
func (m management) Rename(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name = name
	m.changeNodesLocked()
}

// Nodes returns the nodes that are in the cluster.
func (m management) Nodes() []httpapi.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []httpapi.Node
	for _, n := range m.nodes {
		if n.member || n.failedOver {
			list = append(list, httpapi.Node{
				ID: NodeID(n.index), UUID: n.uuid, Hostname: n.host, Group: m.groupOf(n.index), Ports: n.ports, Healthy: n.works() && !n.isolated, Member: n.member,
			})
		}
	}
	return list
}

// Map returns the newest map of a bucket or of the cluster.
func (m management) Map(node NodeID, name string) (json []byte, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b *bucket
	if name != "" {
		if b = m.buckets[name]; b == nil {
			return nil, nil, httpapi.ErrBucketNotFound
		}
	}
	return m.mapLocked(b, m.nodes[node]), m.changed, nil
}

// Login checks a credential.
func (m management) Login(c httpapi.Credential) (httpapi.User, bool) {
	name := c.User
	switch {
	case c.Certificate != nil:
		name = c.Certificate.Subject.CommonName
	case c.Token != "":
		return m.Users()[0], m.knownToken(&c)
	case !hmac.Equal([]byte(c.Password), []byte(m.Password())):
		return httpapi.User{}, false
	}
	return m.Users()[0], name == m.username
}

// Users returns the administrator.
func (m management) Users() []httpapi.User {
	return []httpapi.User{{Name: m.username, FullName: m.username, Roles: []httpapi.Role{{Name: "admin"}}}}
}

// Buckets returns all buckets, ordered by name.
func (m management) Buckets() []httpapi.Bucket {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]httpapi.Bucket, 0, len(m.buckets))
	for _, name := range slices.Sorted(maps.Keys(m.buckets)) {
		list = append(list, m.buckets[name].shownLocked())
	}
	return list
}

// shownLocked returns the bucket as the management service shows it.
func (b *bucket) shownLocked() httpapi.Bucket {
	s := b.shown
	s.Name, s.UUID, s.Type, s.Replicas, s.MaxExpiry, s.FlushEnabled = b.Name, b.uuid, "membase", b.Replicas, b.MaxExpiry, b.FlushEnabled
	if b.Ephemeral {
		s.Type = "ephemeral"
	}
	s.VBuckets = b.vbuckets
	now := time.Now()
	for vb := range b.rows {
		if _, v := b.active(uint16(vb)); v != nil {
			v.Each(now, func(_ store.Key, d *store.Document) bool {
				s.Documents++
				s.Memory += int64(d.Size())
				return true
			})
		}
	}
	return s
}

// usual are the settings of a bucket of which nobody has set those that only the management service shows.
func (c *Cluster) usual(b Bucket) httpapi.Bucket {
	kind := "membase"
	if b.Ephemeral {
		kind = "ephemeral"
	}
	s := httpapi.UsualBucket(c.profile.number, kind, b.Storage)
	s.RAMQuota = 100 << 20
	return s
}

func settingsOf(b httpapi.Bucket) Bucket {
	return Bucket{
		Name: b.Name, Replicas: b.Replicas, Ephemeral: b.Type == "ephemeral", Storage: b.Storage, MaxExpiry: b.MaxExpiry, FlushEnabled: b.FlushEnabled,
	}
}

// CreateBucket makes a bucket.
func (m management) CreateBucket(b httpapi.Bucket) error {
	return asManagement(m.create(settingsOf(b), b))
}

// UpdateBucket replaces the settings of a bucket, but not the number of its replicas, which takes a rebalance.
func (m management) UpdateBucket(b httpapi.Bucket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	there := m.buckets[b.Name]
	if there == nil {
		return httpapi.ErrBucketNotFound
	}
	there.MaxExpiry, there.FlushEnabled = b.MaxExpiry, b.FlushEnabled
	there.showLocked(b)
	return nil
}

// DropBucket removes a bucket.
func (m management) DropBucket(name string) error { return asManagement(m.Cluster.DropBucket(name)) }

// FlushBucket removes the documents of a bucket.
func (m management) FlushBucket(name string) error { return asManagement(m.Cluster.FlushBucket(name)) }

// asManagement returns the management service's error for one of the cluster.
func asManagement(err error) error {
	for _, e := range []struct{ ours, theirs error }{
		{errBucketExists, httpapi.ErrBucketExists},
		{errBucketNotFound, httpapi.ErrBucketNotFound},
		{errScopeExists, httpapi.ErrScopeExists},
		{errScopeNotFound, httpapi.ErrScopeNotFound},
		{errCollectionExists, httpapi.ErrCollectionExists},
		{errCollectionNotFound, httpapi.ErrCollectionNotFound},
	} {
		if errors.Is(err, e.ours) {
			return e.theirs
		}
	}
	return err
}

// Manifest returns the scopes and collections of a bucket.
func (m management) Manifest(name string) (httpapi.Manifest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.buckets[name]
	if b == nil {
		return httpapi.Manifest{}, httpapi.ErrBucketNotFound
	}
	shown := httpapi.Manifest{UID: b.manifest.uid}
	for _, s := range b.manifest.scopes {
		list := []httpapi.Collection{}
		for _, c := range s.collections {
			shown := httpapi.Collection{Name: c.Name, UID: uint64(c.id), MaxExpiry: c.MaxExpiry, History: c.History}
			if c.MaxExpiry < 0 {
				shown.MaxExpiry = -time.Second // whatever below zero it is
			}
			list = append(list, shown)
		}
		shown.Scopes = append(shown.Scopes, httpapi.Scope{Name: s.name, UID: uint64(s.id), Collections: list})
	}
	return shown, nil
}

// CreateScope makes a scope.
func (m management) CreateScope(bucket, scope string) (uint64, error) {
	uid, err := m.Cluster.CreateScope(bucket, scope)
	return uid, asManagement(err)
}

// DropScope removes a scope.
func (m management) DropScope(bucket, scope string) (uint64, error) {
	uid, err := m.Cluster.DropScope(bucket, scope)
	return uid, asManagement(err)
}

// CreateCollection makes a collection.
func (m management) CreateCollection(bucket, scope string, c httpapi.Collection) (uint64, error) {
	uid, err := m.Cluster.CreateCollection(bucket, scope, Collection{Name: strings.Clone(c.Name), MaxExpiry: c.MaxExpiry, History: c.History})
	return uid, asManagement(err)
}

// UpdateCollection changes the settings of a collection.
func (m management) UpdateCollection(name, scope string, change httpapi.CollectionChange) (uint64, error) {
	uid, err := m.changeManifest(name, func(b *bucket) error {
		_, c, err := b.manifest.locate(scope, change.Name)
		if err != nil {
			return err
		}
		if change.MaxExpiry != nil {
			c.MaxExpiry = *change.MaxExpiry
		}
		if change.History != nil {
			c.History = change.History
		}
		return nil
	})
	return uid, asManagement(err)
}

// DropCollection removes a collection.
func (m management) DropCollection(bucket, scope, collection string) (uint64, error) {
	uid, err := m.Cluster.DropCollection(bucket, scope, collection)
	return uid, asManagement(err)
}

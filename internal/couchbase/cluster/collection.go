package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// DefaultName is the name of the default scope and of its default collection.
const DefaultName = "_default"

type collectionName struct{ scope, collection string }

// Collection is a collection of a bucket, with its id.
type Collection struct {
	bucket *Bucket
	name   collectionName
	id     atomic.Pointer[CollectionID]
	// refused is the latest id that a node did not know.
	refused atomic.Pointer[CollectionID]

	mu      sync.Mutex
	lookup  *Lookup // the one under way, or nil
	changes int     // how often the bucket became another one
}

// CollectionID is what a lookup of a collection found. It never changes.
type CollectionID struct {
	ID uint32
	// ManifestUID is the version of the collections in which the id was found.
	ManifestUID uint64
	// Prefix is the id as it stands before a key.
	Prefix []byte
}

// Lookup is a lookup of an id, for all who need it.
type Lookup struct {
	done  chan struct{}
	known chan struct{}
	conn  *kv.Conn
	reply kv.Reply
	err   error

	changes int // of the collection when the lookup began
}

var defaultCollection = &CollectionID{Prefix: memd.AppendCollectionID(nil, 0)}

// Collection returns the collection with a name in a scope.
func (b *Bucket) Collection(scope, collection string) *Collection {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := collectionName{scope, collection}
	c := b.collections[name]
	if c == nil {
		c = &Collection{bucket: b, name: name}
		if c.IsDefault() {
			c.id.Store(defaultCollection)
		}
		b.collections[name] = c
	}
	return c
}

// Bucket returns the collection's bucket.
func (c *Collection) Bucket() *Bucket { return c.bucket }

// Scope returns the name of the collection's scope.
func (c *Collection) Scope() string { return c.name.scope }

// Name returns the collection's name.
func (c *Collection) Name() string { return c.name.collection }

// IsDefault reports whether it is the default collection, whose id is always 0.
func (c *Collection) IsDefault() bool {
	return c.name == collectionName{DefaultName, DefaultName}
}

// ID returns the id, or nil if it must be looked up.
func (c *Collection) ID() *CollectionID { return c.id.Load() }

// LookUp asks a node for the id, or joins the lookup that is under way.
func (c *Collection) LookUp(conn *kv.Conn) *Lookup {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lookup == nil {
		l := &Lookup{done: make(chan struct{}), known: make(chan struct{}), conn: conn, err: ErrClosed, changes: c.changes}
		c.lookup = l
		if !c.bucket.cluster.start(func(ctx context.Context) { c.run(ctx, l) }) {
			c.lookup = nil
			close(l.done)
		}
		return l
	}
	return c.lookup
}

func (c *Collection) run(ctx context.Context, l *Lookup) {
	q := kv.Request{
		Opcode: memd.OpCollectionID, Value: []byte(c.name.scope + "." + c.name.collection),
		Deadline: time.Now().Add(lookupTimeout), Cancelled: ctx.Done(),
	}
	l.err = l.conn.RoundTrip(&q, &l.reply)
	if l.err == nil && l.reply.Status == memd.StatusSuccess {
		var found memd.CollectionID
		if found, l.err = memd.ParseCollection(l.reply.Extras); l.err == nil {
			c.found(l, found)
		}
	}
	c.mu.Lock()
	if c.lookup == l {
		c.lookup = nil
	}
	c.mu.Unlock()
	close(l.done)
}

// found takes the id that a lookup found, unless the bucket is another one by now.
func (c *Collection) found(l *Lookup, found memd.CollectionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.changes != c.changes {
		return
	}
	c.id.Store(&CollectionID{found.ID, found.ManifestUID, memd.AppendCollectionID(nil, found.ID)})
	if c.isNew(found) {
		close(l.known)
	}
}

// forget forgets the id, because the bucket was removed and made again: its collections have other ids, and their version began again.
func (c *Collection) forget() {
	if c.IsDefault() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.lookup = nil
	c.id.Store(nil)
	c.refused.Store(nil)
}

// isNew reports whether a lookup found another id than the one that was refused, or the same one in other collections. Otherwise the
// node that refused it would be asked again and again without a delay.
func (c *Collection) isNew(found memd.CollectionID) bool {
	old := c.refused.Load()
	return old == nil || old.ID != found.ID || old.ManifestUID != found.ManifestUID
}

// Done returns a channel that is closed when the lookup has ended.
func (l *Lookup) Done() <-chan struct{} { return l.done }

// Known returns a channel that is closed when the lookup has found an id that was not refused.
func (l *Lookup) Known() <-chan struct{} { return l.known }

// Result returns the answer, or the error of its round trip, on the connection that was asked. It may be called after Done.
func (l *Lookup) Result() (*kv.Reply, *kv.Conn, error) { return &l.reply, l.conn, l.err }

// Outdated notes that a node did not know the id that was used, and reports whether the id must be looked up again. It need not if
// the id is another one by now, or if the node's collections, whose version is uid if it told one, are older than ours: then the node
// is behind.
func (c *Collection) Outdated(used *CollectionID, uid uint64, told bool) bool {
	if c.IsDefault() || told && uid < used.ManifestUID {
		return false
	}
	if !c.id.CompareAndSwap(used, nil) {
		return c.id.Load() == nil
	}
	c.refused.Store(used)
	return true
}

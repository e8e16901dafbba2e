package cluster

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// seekLocked looks for a node in the background, until one answers. b.mu is held.
func (b *Bucket) seekLocked() {
	if b.seeking || b.closed {
		return
	}
	b.seeking = true
	b.cluster.start(b.seek)
}

// seek tries the addresses until one of them answers with a map, or the cluster is closed.
func (b *Bucket) seek(ctx context.Context) {
	var refused error
	for delay := minRedial; ; delay = min(2*delay, maxRedial) {
		logins, changed := b.cluster.credentialNow()
		r := &round{bucket: b, left: b.candidates(ctx), logins: logins, before: refused, attempts: make(chan attempt)}
		if r.run(ctx) || !pauseUntil(ctx, delay, changed) {
			return
		}
		if refused = r.refused; logins != b.cluster.logins.Load() {
			refused, delay = nil, minRedial/2
		}
	}
}

// round tries each address once, in their order: the next one when the one before has failed, or has not answered for some time.
type round struct {
	bucket   *Bucket
	left     []string
	pending  int
	attempts chan attempt
	logins   uint64 // the changes of the credential before the round
	// The credentials are wrong: operations must say it, whatever the other nodes do.
	refused, before error // in this round, and in the one before
}

// attempt is the result of one connect.
type attempt struct {
	link *link
	err  error
}

// run reports whether no other round is needed.
func (r *round) run(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for len(r.left) > 0 || r.pending > 0 {
		if len(r.left) > 0 && !r.next(ctx) {
			return true
		}
		select {
		case a := <-r.attempts:
			if r.arrived(a) {
				return true
			}
		case <-r.patience():
		case <-ctx.Done():
			return true
		}
	}
	return false
}

// next begins to connect to the next address. It reports false if the cluster is closed.
func (r *round) next(ctx context.Context) bool {
	address := r.left[0]
	r.left = r.left[1:]
	r.pending++
	return r.bucket.cluster.start(func(context.Context) {
		l, err := r.bucket.connectAnyway(ctx, address)
		select {
		case r.attempts <- attempt{l, err}:
		case <-ctx.Done():
			if err == nil {
				l.conn.Close(errNotNeeded)
			}
		}
	})
}

// patience returns a channel that has a value when the next address shall be tried beside those that have not answered.
func (r *round) patience() <-chan time.Time {
	if len(r.left) == 0 {
		return nil
	}
	return time.After(seedPatience)
}

// arrived takes the result of an attempt. It reports whether the connection has its place.
func (r *round) arrived(a attempt) bool {
	r.pending--
	if a.err == nil {
		a.err = r.bucket.arrived(a.link)
	}
	if a.err == nil {
		return true
	}
	if r.bucket.cluster.logins.Load() != r.logins { // the next round begins at once
		r.refused, r.before = nil, nil
		if kv.IsLoginFailure(a.err) {
			return false
		}
	}
	if r.refused == nil && kv.IsLoginFailure(a.err) {
		r.refused = a.err
	}
	r.bucket.failed(cmp.Or(r.refused, r.before, a.err))
	return false
}

// connectAnyway makes a connection to an address: without the bucket, if the node refuses that.
func (b *Bucket) connectAnyway(ctx context.Context, address string) (*link, error) {
	l, err := b.connect(ctx, address)
	if errors.Is(err, kv.ErrNoBucket) || errors.Is(err, kv.ErrNoAccess) {
		return b.connectWithout(ctx, address, err)
	}
	return l, err
}

// connectWithout connects without the bucket, which the node refused. The bucket is then opened on that connection, as soon as it is there.
func (b *Bucket) connectWithout(ctx context.Context, address string, refused error) (*link, error) {
	b.failed(refused)
	b.mu.Lock()
	b.missing = true
	b.mu.Unlock()
	return b.connect(ctx, address)
}

// candidates returns the addresses at which a node may be found: those of the newest map, or the seeds if there is none. A service
// record is resolved each time: all nodes of the map may have been replaced.
func (b *Bucket) candidates(ctx context.Context) []string {
	c := b.cluster
	var all []string
	if s := c.Snapshot(); s != nil {
		for _, i := range s.Map.Offering(s.Network, clustermap.KeyValue, c.TLS()) {
			address, _ := s.Map.Nodes[i].Address(s.Network, clustermap.KeyValue, c.TLS())
			all = append(all, address)
		}
		all = shuffled(all, c.config.Shuffle)
	}
	if found := c.resolve(ctx); len(found) > 0 {
		return append(all, shuffled(found, c.config.Shuffle)...)
	}
	if len(all) == 0 {
		return c.seeds
	}
	return all
}

// resolve returns the addresses of the service record, or nothing.
func (c *Cluster) resolve(ctx context.Context) (found []string) {
	defer func() {
		if recover() != nil { // the application's resolver: on this goroutine, a panic would end the process
			found = nil
		}
	}()
	if c.config.SRV == "" || c.config.Resolve == nil {
		return nil
	}
	found, err := c.config.Resolve(ctx, c.config.SRV)
	if err != nil {
		return nil
	}
	return found
}

var errNoMap = errors.New("the node has no cluster map")

// arrived gives a new connection its place and takes its map. If it returns an error, the connection is closed.
func (b *Bucket) arrived(l *link) error {
	var m *clustermap.Map
	var err error
	if len(l.conn.FirstMap()) > 0 || l.conn.Bucket() != "" { // old servers have no map of the cluster alone
		m, err = parseMap(l.conn.FirstMap(), l.conn.Address())
	}
	if err == nil {
		err = b.welcome(l)
	}
	if err != nil {
		l.conn.Close(err)
		return err
	}
	if m != nil {
		b.take(m, l.conn.Address())
	}
	b.settle()
	return nil
}

// welcome makes a new connection the spare one.
func (b *Bucket) welcome(l *link) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || l.ended {
		return kv.ErrClosed
	}
	b.seeking = false
	b.spare, l.selected = l, l.conn.Bucket() != ""
	l.renewLocked()
	if !l.selected && b.name != "" {
		b.cluster.start(l.openBucket)
	}
	return nil
}

// networkOf returns the network by which an address of the map was reached.
func networkOf(m *clustermap.Map, address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return clustermap.DefaultNetwork
	}
	number, _ := net.LookupPort("tcp", port)
	return m.Network(host, number)
}

// settle gives the spare connection its place, or closes it.
func (b *Bucket) settle() {
	b.mu.Lock()
	unneeded := b.settleLocked()
	b.mu.Unlock()
	if unneeded != nil {
		unneeded.conn.Close(errNotNeeded)
	}
}

// settleLocked gives the spare connection of an open bucket to the endpoint with its address. It returns the connection if that has one,
// or does not exist. b.mu is held.
func (b *Bucket) settleLocked() (unneeded *link) {
	l, s := b.spare, b.snapshot.Load()
	if l == nil || !l.selected || s == nil || !s.Map.HasBucket() {
		return nil
	}
	b.spare = nil
	if e := b.endpoints[l.address]; e != nil && e.attach(l) {
		return nil
	}
	return l
}

var errNotNeeded = errors.New("the connection is not needed any more")

// openBucket selects the bucket on a connection without one, as soon as the bucket is there.
func (l *link) openBucket(ctx context.Context) {
	b := l.bucket
	for delay := minRedial; ; delay = min(2*delay, maxBucketWait) {
		err := l.conn.SelectBucket(ctx, b.Name())
		if err == nil {
			l.hasSelected()
			if err = b.ask(ctx, l.conn); err == nil {
				b.settle()
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		b.mu.Lock()
		ended, placed := l.ended, l.endpoint != nil
		b.mu.Unlock()
		if placed { // by a pushed map
			return
		}
		b.failed(err)
		if ended || !pause(ctx, delay) {
			return
		}
	}
}

func (l *link) hasSelected() {
	l.bucket.mu.Lock()
	defer l.bucket.mu.Unlock()
	l.selected = true
}

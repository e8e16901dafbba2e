package cluster

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
)

// link is a connection and its place in a bucket.
type link struct {
	bucket  *Bucket
	address string
	conn    *kv.Conn // set once, before the link has a place
	pooled  *pools.Conn

	// under Bucket.mu:
	endpoint *Endpoint // nil: the bucket's spare connection, or without a place
	selected bool      // it has the bucket
	ended    bool
	doubted  bool      // a NOOP finds out whether it still answers
	drained  bool      // its node had no vbuckets any more when it left
	asked    time.Time // when it was last asked for a map, of a spare connection
	logins   uint64    // the changes of the credential that the login of the connection has, or is getting
	renewing bool      // a goroutine logs it in again
}

// kvPlace is the place in which the connections to an address are counted.
func kvPlace(address string) pools.Place {
	return pools.Place{Address: address, Service: clustermap.KeyValue.String()}
}

// connect makes a connection to an address, for a bucket if it has a name by then.
func (b *Bucket) connect(ctx context.Context, address string) (*link, error) {
	pooled, err := b.cluster.config.Pools.Begin(kvPlace(address))
	if err != nil {
		return nil, err
	}
	l := &link{bucket: b, address: address, pooled: pooled, logins: b.cluster.logins.Load()}
	c := b.cluster.config.KV
	c.LateBucket, c.OnMap, c.OnClose = b.lateBucket, l.pushed, l.closed
	conn, err := kv.Connect(ctx, &c, address, "")
	if err != nil {
		pooled.Failed(err)
		return nil, err
	}
	l.conn = conn
	if err := pooled.Made(func() bool { return conn.InFlight() > 0 }); err != nil {
		conn.Close(err)
		return nil, err
	}
	return l, nil
}

// pushed is called with a map that the server tells of.
func (l *link) pushed(conn *kv.Conn, version memd.MapVersion, body []byte) {
	if body != nil {
		l.bucket.Learn(body, conn.Address())
		return
	}
	l.bucket.toldOf(version, conn)
}

// closed is called when the connection has ended.
func (l *link) closed(_ *kv.Conn, err error) {
	l.pooled.Closed(reasonOf(err), err)
	b := l.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	l.ended = true
	if b.closed {
		return
	}
	switch {
	case b.spare == l:
		b.spare = nil
		b.seekLocked()
	case l.endpoint != nil:
		l.endpoint.lost(l, err)
	}
}

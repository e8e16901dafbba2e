package cluster

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// CredentialChanged is called when the login has another credential. What was refused with the old one is tried again at once, and is no
// reason any more for an operation to fail. With renew each open connection gets the new credential, in the background: it is for a token,
// which one message renews beside the requests in flight (RFC 0048, "Reauthenticating a existing KV connection"); see
// [kv.Conn.LogInAgain]. A connection whose login is refused is closed, and made anew.
func (c *Cluster) CredentialChanged(renew bool) {
	c.mu.Lock()
	c.logins.Add(1)
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	for _, b := range c.everyBucket() {
		b.credentialChanged(renew)
	}
}

func (b *Bucket) credentialChanged(renew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kv.IsLoginFailure(b.err) {
		b.err = nil
	}
	for _, e := range b.endpoints {
		switch {
		case e.link == nil && kv.IsLoginFailure(e.err):
			e.err, e.delay = ErrConnecting, minRedial
		case e.link != nil && renew:
			e.link.renewLocked()
		}
	}
	if b.spare != nil && renew {
		b.spare.renewLocked()
	}
}

// credentialNow returns the number of the changes of the credential, and a channel that is closed at the next one.
func (c *Cluster) credentialNow() (uint64, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logins.Load(), c.changed
}

// outdated reports whether a connection was refused because of a credential that has changed since.
func (c *Cluster) outdated(err error, logins uint64) bool {
	return kv.IsLoginFailure(err) && logins != c.logins.Load()
}

// everyBucket returns the buckets that were opened, and the one without a name.
func (c *Cluster) everyBucket() []*Bucket {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []*Bucket{c.first}
	for _, b := range c.named {
		if b != c.first {
			all = append(all, b)
		}
	}
	return all
}

// renewLocked logs the connection in again, if the credential has changed since its login began. It is called for each change and
// for each connection that gets its place, so a connection that was being made during a change is not forgotten. bucket.mu is held.
func (l *link) renewLocked() {
	if l.renewing || l.ended || l.logins == l.bucket.cluster.logins.Load() {
		return
	}
	l.renewing = l.bucket.cluster.start(l.renew)
}

// renew logs the connection in until its credential is the newest. One after the other: the last one must win.
func (l *link) renew(ctx context.Context) {
	for l.outdated() {
		if err := l.conn.LogInAgain(ctx, l.bucket.cluster.config.loginTimeout()); err != nil {
			l.conn.Close(err)
			return
		}
	}
}

// outdated reports whether the connection needs another login.
func (l *link) outdated() bool {
	l.bucket.mu.Lock()
	defer l.bucket.mu.Unlock()
	newest := l.bucket.cluster.logins.Load()
	l.renewing = l.logins != newest && !l.ended
	l.logins = newest
	return l.renewing
}

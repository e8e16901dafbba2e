package cluster

import "context"

// LogInAgain gives each connection the credential that the login has now, in the background. It is for a token, which one message renews
// beside the requests in flight (RFC 0048, "Reauthenticating a existing KV connection"); see [kv.Conn.LogInAgain]. A connection whose
// login is refused is closed, and made anew.
func (c *Cluster) LogInAgain() {
	c.logins.Add(1)
	for _, b := range c.everyBucket() {
		b.mu.Lock()
		if b.spare != nil {
			b.spare.renewLocked()
		}
		for _, e := range b.endpoints {
			if e.link != nil {
				e.link.renewLocked()
			}
		}
		b.mu.Unlock()
	}
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

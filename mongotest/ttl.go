package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/index-ttl/

// expiration is the deletion of expired documents, which goes on as long as there are collections whose documents expire.
type expiration struct {
	timer   *time.Timer // to the next pass; nil if none is needed
	passes  int64
	deleted int64
}

// expiresLocked notes that an entry may have made a collection whose documents expire.
func (rs *Deployment) expiresLocked(e *store.Entry) {
	for _, part := range e.Parts {
		rs.expiresLocked(part)
	}
	if e.Change != nil && e.Change.After != nil && e.Change.After.Expires() && rs.expiration.timer == nil && !rs.closed {
		rs.expiration.timer = time.AfterFunc(rs.members[0].ttlSleepLocked(), rs.expire)
	}
}

// ttlSleepLocked is the time between two passes.
func (m *member) ttlSleepLocked() time.Duration { return m.parameters.Seconds(parameter.TTLSleep) }

// expire makes one pass: the primary deletes what has expired, the others replicate that.
func (rs *Deployment) expire() {
	rs.mu.Lock()
	p := rs.newestPrimaryLocked()
	frozen := rs.expiringLocked(p)
	rs.mu.Unlock()
	now := time.Now().UnixMilli()
	for ns, view := range frozen {
		if records, err := view.Expired(now); err == nil {
			rs.removeExpired(p, ns, view.Def.UUID, records)
		}
	}
}

// expiringLocked returns the primary's collections whose documents expire, and sets the timer for the next pass if any member has one.
func (rs *Deployment) expiringLocked(p *member) map[string]store.View {
	t := &rs.expiration
	if t.timer = nil; rs.closed {
		return nil
	}
	sleeper := rs.members[0]
	if p != nil {
		sleeper = p
	}
	frozen := make(map[string]store.View)
	for _, m := range rs.members {
		for ns, c := range m.data.Collections {
			if !c.Def.Expires() {
				continue
			}
			if t.timer == nil {
				t.timer = time.AfterFunc(sleeper.ttlSleepLocked(), rs.expire)
			}
			if m == p && m.parameters.True(parameter.TTLEnabled) {
				frozen[ns] = c.Frozen()
			}
		}
	}
	if len(frozen) > 0 {
		t.passes++
	}
	return frozen
}

// removeExpired deletes records as the primary, unless they were changed meanwhile or a transaction has locked them.
func (rs *Deployment) removeExpired(p *member, ns string, id store.UUID, records []*store.Record) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	c := p.data.Collections[ns]
	if rs.closed || p.role != primary || p.fsyncLocks > 0 || c == nil || c.Def.UUID != id {
		return
	}
	for _, r := range records {
		e := &store.Entry{Kind: store.Remove, NS: ns, Key: r.Key, Before: r.Doc}
		e.Concern(c.Def)
		if c.ByKey[r.Key] == r && p.heldLocked(e, p.locksOf(e, c), nil) == nil {
			p.appendLocked(e)
			rs.expiration.deleted++
		}
	}
	p.publishLocked()
}

// awakenLocked lets the next pass begin as a new time between passes says.
func (rs *Deployment) awakenLocked(m *member) {
	if t := rs.expiration.timer; t != nil {
		t.Reset(m.ttlSleepLocked())
	}
}

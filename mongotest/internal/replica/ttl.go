package replica

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/index-ttl/

// Expiration is the deletion of expired documents, which goes on as long as there are collections whose documents expire.
type Expiration struct {
	timer   *time.Timer // to the next pass; nil if none is needed
	Passes  int64
	Deleted int64
}

// expiresLocked notes that an entry may have made a collection whose documents expire.
func (rs *Set) expiresLocked(e *store.Entry) {
	for _, part := range e.Parts {
		rs.expiresLocked(part)
	}
	if e.Change != nil && e.Change.After != nil && e.Change.After.Expires() && rs.Expiration.timer == nil && !rs.Closed {
		rs.Expiration.timer = time.AfterFunc(rs.Members[0].ttlSleepLocked(), rs.expire)
	}
}

// ttlSleepLocked is the time between two passes.
func (m *Member) ttlSleepLocked() time.Duration { return m.Parameters.Seconds(parameter.TTLSleep) }

// expire makes one pass: the primary deletes what has expired, the others replicate that.
func (rs *Set) expire() {
	rs.mu.Lock()
	p := rs.NewestPrimaryLocked()
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
func (rs *Set) expiringLocked(p *Member) map[string]store.View {
	t := &rs.Expiration
	if t.timer = nil; rs.Closed {
		return nil
	}
	sleeper := rs.Members[0]
	if p != nil {
		sleeper = p
	}
	frozen := make(map[string]store.View)
	for _, m := range rs.Members {
		for ns, c := range m.Data.Collections {
			if !c.Def.Expires() {
				continue
			}
			if t.timer == nil {
				t.timer = time.AfterFunc(sleeper.ttlSleepLocked(), rs.expire)
			}
			if m == p && m.Parameters.True(parameter.TTLEnabled) {
				frozen[ns] = c.Frozen()
			}
		}
	}
	if len(frozen) > 0 {
		t.Passes++
	}
	return frozen
}

// removeExpired deletes records as the primary, unless they were changed meanwhile or a transaction has locked them.
func (rs *Set) removeExpired(p *Member, ns string, id store.UUID, records []*store.Record) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	c := p.Data.Collections[ns]
	if rs.Closed || p.Role != Primary || p.FsyncLocks > 0 || c == nil || c.Def.UUID != id {
		return
	}
	for _, r := range records {
		e := &store.Entry{Op: store.Remove, NS: ns, Key: r.Key, Before: r.Doc}
		e.Concern(c.Def)
		if c.ByKey[r.Key] == r && p.BlockerLocked(e, p.LocksOfLocked(e, c), nil) == nil {
			p.AppendLocked(e)
			rs.Expiration.Deleted++
		}
	}
	p.PublishLocked()
}

// AwakenLocked lets the next pass begin as a new time between passes says.
func (rs *Set) AwakenLocked(m *Member) {
	if t := rs.Expiration.timer; t != nil {
		t.Reset(m.ttlSleepLocked())
	}
}

package revocation

import (
	"sync"
	"time"
)

// maxAnswers limits a cache: a client has one answer for each certificate that its servers have shown and that has not expired.
const maxAnswers = 1000

// cache has the conclusive answers of one client.
type cache struct {
	mu      sync.Mutex
	answers map[certID]answer
}

// get returns the answer about a certificate that holds now. One that does not is removed.
func (c *cache) get(id certID, now time.Time) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.answers[id]
	if ok && !a.holds(now) {
		delete(c.answers, id)
		return answer{}, false
	}
	return a, ok
}

// put adds a conclusive answer that holds now, and returns the newest one. An answer without an end is not kept, and no older one beside it.
func (c *cache) put(id certID, a answer, now time.Time) answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	older, ok := c.answers[id]
	if ok && older.holds(now) && !a.isNewer(&older) {
		return older
	}
	delete(c.answers, id)
	if a.until.IsZero() {
		return a
	}
	c.makeRoomLocked(now)
	if c.answers == nil {
		c.answers = make(map[certID]answer)
	}
	c.answers[id] = a
	return a
}

// makeRoomLocked removes all answers that have expired, and if there are still too many the one that expires first.
func (c *cache) makeRoomLocked(now time.Time) {
	var first certID
	var end time.Time
	for id, a := range c.answers {
		if !a.holds(now) {
			delete(c.answers, id)
		} else if end.IsZero() || a.until.Before(end) {
			first, end = id, a.until
		}
	}
	if len(c.answers) >= maxAnswers {
		delete(c.answers, first)
	}
}

package inspect

import (
	"fmt"
	"time"
)

// writeConcern checks the write concern of the connection string or, if it has none, of the deployment.
func (c *judge) writeConcern() {
	f := c.facts
	if c.hasRole("standalone") {
		return // it has one copy of the data in any case
	}
	if wc := f.Options.WriteConcern; wc != nil && wc.W != nil {
		c.concern(wc.W, "the connection string")
		return
	}
	switch {
	case f.ConcernErr != nil:
		c.notChecked(idWriteConcern, "", fmt.Errorf("the connection string has no w, and the deployment's default cannot be read: %w", f.ConcernErr))
	case f.Concern.W == nil:
		c.concern(1, "the server's release, because nobody has set one")
	default:
		c.concern(f.Concern.W, "the deployment's default")
	}
}

// concern judges a write concern's w.
func (c *judge) concern(w any, from string) {
	if mode, isText := w.(string); isText {
		if mode == "majority" {
			c.add(idWriteConcern, OK, "", "w is majority, by %s", from)
		} else {
			c.add(idWriteConcern, Note, "", "w is the mode %q, by %s; its members are not compared with a majority", mode, from)
		}
		return
	}
	n := number(w)
	switch majority := c.leastMajority(); {
	case n == 0:
		c.add(idWriteConcern, Problem, "", "w is 0, by %s: writes are not acknowledged at all", from)
	case majority > 0 && n >= majority:
		c.add(idWriteConcern, OK, "", "w is %d, by %s, which is a majority", n, from)
	case n > 1:
		c.add(idWriteConcern, Warning, "", "w is %d, by %s, which is less than a majority", n, from)
	default:
		c.add(idWriteConcern, Problem, "", "w is %d, by %s: an acknowledged write may be on one member only", n, from)
	}
}

// leastMajority returns the number of members that every set needs for a majority, 0 if it is not known.
func (c *judge) leastMajority() int {
	most := 0
	for i := range c.facts.Sets {
		if c.facts.Sets[i].dataVoters() < 2 {
			return 0 // one copy is a majority, and no safety
		}
		most = max(most, c.facts.Sets[i].majority())
	}
	return most
}

func number(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int32:
		return int(n)
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func (c *judge) journal() {
	f := c.facts
	wc := f.Options.WriteConcern
	switch {
	case wc != nil && wc.Journal != nil && !*wc.Journal:
		c.add(idJournal, Warning, "", "the connection string has journal=false")
	case wc != nil && wc.Journal != nil:
		c.add(idJournal, OK, "", "the connection string has journal=true")
	default:
		for i := range f.Sets {
			if s := &f.Sets[i]; s.JournalOff {
				c.add(idJournal, Warning, "", "the set %s has writeConcernMajorityJournalDefault: false", s.Name)
			} else if s.ConfigErr == nil && s.Err == nil {
				c.add(idJournal, OK, "", "the set %s writes to the journal before it acknowledges a majority write", s.Name)
			}
		}
	}
}

func (c *judge) retries() {
	f := c.facts
	for _, option := range []struct {
		id, name string
		value    *bool
		level    Level
	}{
		{idRetryWrites, "retryWrites", f.Options.RetryWrites, Problem},
		{idRetryReads, "retryReads", f.Options.RetryReads, Warning},
	} {
		off := option.value != nil && !*option.value
		switch {
		case off:
			c.add(option.id, option.level, "", "the connection string has %s=false", option.name)
		case option.id == idRetryWrites && c.hasRole("standalone"): // idStandalone says what that means
		default:
			c.add(option.id, OK, "", "%s is on", option.name)
		}
	}
}

// The client's default, and the limits within which a setting is reasonable.
const (
	defaultSelection       = 30 * time.Second
	defaultElectionTimeout = 10 * time.Second // settings.electionTimeoutMillis
	leastConnect           = time.Second
	mostConnect            = 30 * time.Second
)

func (c *judge) timeouts() {
	o := c.facts.Options
	c.selectionTimeout(valueOr(o.ServerSelectionTimeout, defaultSelection))
	c.connectTimeout(valueOr(o.ConnectTimeout, defaultConnectTimeout))
	c.operationTimeout(valueOr(o.Timeout, 0))
	if o.MaxPoolSize != nil && *o.MaxPoolSize == 0 {
		c.add(idPool, Warning, "", "the connection string has maxPoolSize=0, which is no limit")
	} else {
		c.add(idPool, OK, "", "a client makes at most %d connections to a server", valueOr(o.MaxPoolSize, 100))
	}
}

func (c *judge) selectionTimeout(d time.Duration) {
	election := c.electionTimeout()
	switch {
	case d == 0:
		c.add(idSelection, Warning, "", "serverSelectionTimeoutMS is 0, which is no limit")
	case d < 2*election && len(c.facts.Sets) > 0:
		c.add(idSelection, Warning, "", "serverSelectionTimeoutMS is %d; an election may take %v and more", d.Milliseconds(), election)
	default:
		c.add(idSelection, OK, "", "serverSelectionTimeoutMS is %d", d.Milliseconds())
	}
}

// electionTimeout returns the longest of the sets, or the default.
func (c *judge) electionTimeout() time.Duration {
	longest := time.Duration(0)
	for _, s := range c.facts.Sets {
		longest = max(longest, s.ElectionTimeout)
	}
	if longest == 0 {
		return defaultElectionTimeout
	}
	return longest
}

func (c *judge) connectTimeout(d time.Duration) {
	switch {
	case d == 0:
		c.add(idConnect, Warning, "", "connectTimeoutMS is 0, which is no limit")
	case d < leastConnect || d > mostConnect:
		c.add(idConnect, Warning, "", "connectTimeoutMS is %d", d.Milliseconds())
	default:
		c.add(idConnect, OK, "", "connectTimeoutMS is %d", d.Milliseconds())
	}
}

func (c *judge) operationTimeout(d time.Duration) {
	switch election := c.electionTimeout(); {
	case d == 0:
		c.add(idTimeout, Note, "", "the connection string has no timeoutMS, so an operation has only the limit that the program gives it")
	case d <= election && len(c.facts.Sets) > 0:
		c.add(idTimeout, Warning, "", "timeoutMS is %d; an election may take %v and more", d.Milliseconds(), election)
	default:
		c.add(idTimeout, OK, "", "timeoutMS is %d", d.Milliseconds())
	}
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

package inspect

import "time"

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
		case option.id == idRetryWrites && c.hasRole("standalone"): // idStandalone says that it retries no writes in any case
		case off:
			c.add(option.id, option.level, "", "the connection string has %s=false", option.name)
		default:
			c.add(option.id, OK, "", "%s is on", option.name)
		}
	}
}

// The client's default, and the limits within which a setting is reasonable.
const (
	defaultSelection       = 30 * time.Second
	mostSelection          = time.Minute
	defaultElectionTimeout = 10 * time.Second // settings.electionTimeoutMillis
	leastConnect           = time.Second
	mostConnect            = 30 * time.Second
)

func (c *judge) timeouts() {
	o := c.facts.Options
	c.selectionTimeout(valueOr(o.ServerSelectionTimeout, defaultSelection))
	c.connectTimeout(valueOr(o.ConnectTimeout, defaultConnectTimeout))
	c.operationTimeout(o.Timeout)
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
	case d > max(mostSelection, 2*election):
		c.add(idSelection, Warning, "", "serverSelectionTimeoutMS is %d, which is longer than a minute", d.Milliseconds())
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

func (c *judge) operationTimeout(option *time.Duration) {
	switch election, d := c.electionTimeout(), valueOr(option, 0); {
	case option != nil && d == 0:
		c.add(idTimeout, Note, "", "timeoutMS is 0, so an operation has only the limit that the program gives it")
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

package inspect

import "fmt"

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
	case f.Concern.W == nil && len(f.Sets) == 1 && f.Sets[0].DefaultW != nil:
		c.concern(f.Sets[0].DefaultW, "getLastErrorDefaults of the set")
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
	c.enoughMembers(n)
	switch majority, known := c.leastMajority(); {
	case n == 0:
		c.add(idWriteConcern, Problem, "", "w is 0, by %s: writes are not acknowledged at all", from)
	case n > 1 && !known:
		c.add(idWriteConcern, Note, "", "w is %d, by %s; it is not compared with a majority, because the members are not known", n, from)
	case majority > 0 && n >= majority:
		c.add(idWriteConcern, OK, "", "w is %d, by %s, which is a majority", n, from)
	case n > 1 && majority == 0:
		c.add(idWriteConcern, Warning, "", "w is %d, by %s, but a set has one member with data and a vote", n, from)
	case n > 1:
		c.add(idWriteConcern, Warning, "", "w is %d, by %s, which is less than a majority", n, from)
	default:
		c.add(idWriteConcern, Problem, "", "w is %d, by %s: an acknowledged write may be on one member only", n, from)
	}
}

// leastMajority returns the number of members that every set needs for a majority, 0 if a set has one copy of the data only: that is a
// majority, and no safety. It reports false if the members of a set are not known.
func (c *judge) leastMajority() (most int, known bool) {
	single := false
	for i := range c.facts.Sets {
		s := &c.facts.Sets[i]
		if !s.known() {
			return 0, false
		}
		single = single || s.dataVoters() < 2
		most = max(most, s.majority())
	}
	if single {
		return 0, true
	}
	return most, len(c.facts.Sets) > 0
}

// enoughMembers checks whether as many members have data as a w above 1 asks for.
func (c *judge) enoughMembers(w int) {
	for i := range c.facts.Sets {
		s := &c.facts.Sets[i]
		level, data := OK, s.data()
		switch {
		case w < 2 || !s.known() || s.ConfigErr != nil: // without the configuration hidden members are not known
			continue
		case w > data:
			level = Problem
		case w == data:
			level = Warning
		}
		c.add(idConcernMembers, level, s.subject(), "w is %d; %s with data", w, counted(data, "member"))
	}
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

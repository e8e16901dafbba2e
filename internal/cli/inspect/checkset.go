package inspect

import "strings"

// sets checks the members of each replica set.
func (c *judge) sets() {
	for i := range c.facts.Sets {
		c.set(&c.facts.Sets[i])
	}
}

func (c *judge) set(s *SetFacts) {
	subject := s.subject()
	if s.Err != nil {
		c.add(idPrimary, Problem, subject, "the set %s cannot be used: %s", s.Name, oneLine(s.Err))
		return
	}
	if s.HasPrimary {
		c.add(idPrimary, OK, subject, "the set %s has a primary", s.Name)
	} else {
		c.add(idPrimary, Problem, subject, "the set %s has no primary", s.Name)
	}
	if s.ConfigErr != nil {
		c.notChecked(idSetConfig, subject, s.ConfigErr)
	}
	if len(s.Members) == 0 {
		return // no member says who is in the set
	}
	c.size(s, subject)
	c.electable(s, subject)
	c.arbiters(s, subject)
	c.special(s, subject)
}

// subject returns the subject of findings about the set: it is the whole deployment unless it is a shard.
func (s *SetFacts) subject() string {
	if s.Shard {
		return "shard " + s.Name
	}
	return ""
}

func (c *judge) size(s *SetFacts, subject string) {
	data, voters := s.dataVoters(), s.voters()
	level := OK
	switch {
	case data < 2:
		level = Problem
	case data < 3:
		level = Warning
	}
	c.add(idSetSize, level, subject, "%s, %d with data and a vote", counted(len(s.Members), "member"), data)
	c.add(idVoters, levelIf(voters%2 == 0, Warning), subject, "%s", counted(voters, "voting member"))
}

func (c *judge) electable(s *SetFacts, subject string) {
	n := s.count(func(m *SetMember) bool { return !m.Arbiter && m.Priority > 0 })
	c.add(idElectable, levelIf(n < 2, Problem), subject, "%s can become primary", counted(n, "member"))
}

func (c *judge) arbiters(s *SetFacts, subject string) {
	list := s.addresses(func(m *SetMember) bool { return m.Arbiter })
	if len(list) == 0 {
		c.add(idArbiters, OK, subject, "there is no arbiter")
		return
	}
	c.add(idArbiters, Warning, subject, "%s: %s", counted(len(list), "arbiter"), strings.Join(list, ", "))
}

// special checks the members that only the configuration shows.
func (c *judge) special(s *SetFacts, subject string) {
	if s.ConfigErr != nil {
		return
	}
	if hidden := s.addresses(func(m *SetMember) bool { return m.Hidden }); len(hidden) > 0 {
		c.add(idHidden, Note, subject, "%s: %s", counted(len(hidden), "hidden member"), strings.Join(hidden, ", "))
	}
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case m.Delay > 0 && m.Votes > 0:
			c.add(idDelayed, Warning, subject, "%s is %v behind on purpose, and votes", m.Address, m.Delay)
		case m.Delay > 0:
			c.add(idDelayed, Note, subject, "%s is %v behind on purpose, and does not vote", m.Address, m.Delay)
		}
	}
}

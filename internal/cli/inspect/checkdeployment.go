package inspect

import (
	"strings"
	"time"
)

// deployment checks the kind of the deployment, and how the connection string names it.
func (c *judge) deployment() {
	f := c.facts
	c.login()
	switch {
	case c.hasRole("standalone"):
		c.add(idStandalone, Problem, "", "it is a standalone server")
	case f.Options.Direct != nil && *f.Options.Direct && !c.hasRole("mongos"):
		c.add(idDirect, Problem, "", "directConnection=true: the client sees one member only")
	case c.hasRole("mongos"):
		c.mongos()
	case f.View.Kind != "LoadBalanced":
		c.seeds()
	}
}

// mongos checks the mongos, which may be routers in front of a replica set, or of a standalone.
func (c *judge) mongos() {
	noun, r := "mongos", c.facts.View.Router
	if r != nil {
		noun = "router"
	}
	n := len(c.facts.View.Members)
	c.add(idMongos, levelIf(n < 2, Warning), "", "the client knows %s", counted(n, noun))
	switch {
	case r == nil:
		c.shards()
	case r.SetName == "" && r.Ready:
		c.add(idStandalone, Problem, "", "behind the router is a standalone server")
	}
}

// login checks the credentials. A server answers a ping without a login too.
func (c *judge) login() {
	f := c.facts
	switch {
	case f.LoginErr != nil:
		c.add(idLogin, Problem, "", "a ping fails: %s", oneLine(f.LoginErr))
	case f.Options.Auth == nil && f.unauthorized():
		c.add(idLogin, Problem, "", "the deployment requires a login, and the connection string has no user")
	default:
		c.add(idLogin, OK, "", "the deployment answers a command")
	}
}

func (c *judge) hasRole(role string) bool {
	for _, m := range c.facts.View.Members {
		if m.Role == role {
			return true
		}
	}
	return false
}

func (c *judge) seeds() {
	f := c.facts
	if strings.HasPrefix(f.Options.GetURI(), "mongodb+srv://") {
		c.add(idSeeds, OK, "", "the hosts come from a mongodb+srv name")
		return
	}
	n := len(f.Options.Hosts)
	c.add(idSeeds, levelIf(n < 2 && len(f.View.Members) > 1, Warning), "", "the connection string names %s of %d", counted(n, "host"), len(f.View.Members))
}

func (c *judge) shards() {
	if err := c.facts.ShardsErr; err != nil {
		c.notChecked(idShards, "", err)
		return
	}
	c.add(idShards, OK, "", "the cluster has %s", counted(len(c.facts.Shards), "shard"))
}

func (c *judge) reachability() {
	failed := false
	for _, s := range c.facts.Servers {
		if s.Err != nil {
			failed = true
			c.add(idReachable, Warning, s.Address, "it does not answer: %s", oneLine(s.Err))
		}
	}
	if !failed {
		c.add(idReachable, OK, "", "%s, and each answers", counted(len(c.facts.Servers), "server"))
	}
}

func (c *judge) versions() {
	var known []string
	byRelease := make(map[string][]string)
	for _, s := range c.facts.Servers {
		if s.Release == "" {
			continue
		}
		if byRelease[s.Release] == nil {
			known = append(known, s.Release)
		}
		byRelease[s.Release] = append(byRelease[s.Release], s.Address)
	}
	if len(known) == 0 {
		return
	}
	var parts []string
	for _, release := range known {
		parts = append(parts, release+" on "+strings.Join(byRelease[release], ", "))
		c.support(release, byRelease[release])
	}
	if len(known) > 1 {
		c.add(idVersionsMixed, Warning, "", "the versions differ: %s", strings.Join(parts, "; "))
		return
	}
	c.add(idVersionsMixed, OK, "", "all servers have release %s", known[0])
}

// mostClockDifference is from when a difference is worth a warning. A time service keeps clocks within some milliseconds.
const mostClockDifference = time.Second

func (c *judge) clocks() {
	right := 0
	for _, s := range c.facts.Servers {
		switch {
		case s.Err != nil:
		case s.ClockErr != nil:
			c.notChecked(idClock, s.Address, s.ClockErr)
		case s.ClockDifference.Abs()-s.ClockError > mostClockDifference:
			c.add(idClock, Warning, s.Address, "its clock is %v %s this machine's", s.ClockDifference.Abs().Round(time.Millisecond), direction(s.ClockDifference))
		default:
			right++
		}
	}
	if right > 0 && right == len(c.facts.Servers) {
		c.add(idClock, OK, "", "no clock is more than %v from this machine's", mostClockDifference)
	}
}

func direction(difference time.Duration) string {
	if difference < 0 {
		return "behind"
	}
	return "ahead of"
}

package inspect

import (
	"strings"
	"time"
)

// deployment checks the kind of the deployment, and how the connection string names it.
func (c *judge) deployment() {
	f := c.facts
	if f.LoginErr == nil {
		c.add(idLogin, OK, "", "the deployment answers a command")
	} else {
		c.add(idLogin, Problem, "", "a ping fails: %s", oneLine(f.LoginErr))
	}
	switch {
	case c.hasRole("standalone"):
		c.add(idStandalone, Problem, "", "it is a standalone server")
	case f.Options.Direct != nil && *f.Options.Direct && !c.hasRole("mongos"):
		c.add(idDirect, Problem, "", "directConnection=true: the client sees one member only")
	case c.hasRole("mongos"):
		n := len(f.View.Members)
		c.add(idMongos, levelIf(n < 2, Warning), "", "the client knows %s", counted(n, "mongos"))
		c.shards()
	case f.View.Kind != "LoadBalanced":
		c.seeds()
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

// endsOfLife are the days on which MongoDB stopped to maintain a release: MongoDB Software Lifecycle Schedules.
var endsOfLife = map[string]string{
	"3.6": "April 2021", "4.0": "April 2022", "4.2": "April 2023", "4.4": "February 2024", "5.0": "October 2024", "6.0": "July 2025",
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
		if end, over := endsOfLife[release]; over {
			c.add(idVersionSupport, Warning, "", "release %s (%s) is maintained no longer, since %s", release, strings.Join(byRelease[release], ", "), end)
		} else {
			c.add(idVersionSupport, OK, "", "no end of release %s is known", release)
		}
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

// Certificates that end within these times are a problem, or worth a warning.
const (
	certificateProblem = 7 * 24 * time.Hour
	certificateWarning = 30 * 24 * time.Hour
)

func (c *judge) certificates() {
	for _, s := range c.facts.Servers {
		left := s.CertificateEnd.Sub(c.facts.At)
		level := levelIf(left < certificateWarning, Warning)
		if left < certificateProblem {
			level = Problem
		}
		switch {
		case s.CertificateErr != nil:
			c.notChecked(idCertificate, s.Address, s.CertificateErr)
		case s.CertificateEnd.IsZero():
		case left < 0:
			c.add(idCertificate, Problem, s.Address, "its certificate ended at %s", s.CertificateEnd.UTC().Format(time.RFC3339))
		default:
			c.add(idCertificate, level, s.Address, "its certificate ends in %s, at %s", counted(int(left.Hours()/24), "day"), s.CertificateEnd.UTC().Format(time.RFC3339))
		}
	}
}

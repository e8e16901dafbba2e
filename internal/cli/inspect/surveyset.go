package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// set reads the configuration of the set of a watcher or, if that is refused, the members that a hello names.
// d is from before the first command: if the login fails, the client marks the servers Unknown.
func (s *survey) set(ctx context.Context, w *Watcher, d *topology.Description) SetFacts {
	facts := SetFacts{Name: d.SetName, HasPrimary: d.Type == topology.ReplicaSetWithPrimary}
	var reply struct{ Config setConfig }
	if facts.ConfigErr = s.ask(ctx, w.client, "replSetGetConfig", &reply); facts.ConfigErr != nil {
		facts.Members = membersOfHello(d)
		return facts
	}
	reply.Config.into(&facts)
	return facts
}

// setConfig is the part of a set's configuration that is judged.
type setConfig struct {
	JournalDefault *bool `bson:"writeConcernMajorityJournalDefault"`
	Members        []struct {
		Host            string
		Votes           *int
		Priority        *float64
		Hidden          bool
		ArbiterOnly     bool   `bson:"arbiterOnly"`
		DelaySecs       *int64 `bson:"secondaryDelaySecs"`
		DelaySecsBefore *int64 `bson:"slaveDelay"` // its name before 5.0
	}
	Settings struct {
		ElectionTimeoutMillis int64 `bson:"electionTimeoutMillis"`
		LastErrorDefaults     struct {
			W any
		} `bson:"getLastErrorDefaults"`
	}
}

// into fills the facts. A member has one vote and the priority 1 if the configuration does not say otherwise.
func (c *setConfig) into(f *SetFacts) {
	f.JournalOff = !valueOr(c.JournalDefault, true)
	f.DefaultW = c.Settings.LastErrorDefaults.W
	f.ElectionTimeout = time.Duration(c.Settings.ElectionTimeoutMillis) * time.Millisecond
	for _, m := range c.Members {
		f.Members = append(f.Members, SetMember{
			Address: m.Host, Votes: valueOr(m.Votes, 1), Priority: valueOr(m.Priority, 1), Hidden: m.Hidden, Arbiter: m.ArbiterOnly,
			Delay: time.Duration(valueOr(m.DelaySecs, valueOr(m.DelaySecsBefore, 0))) * time.Second,
		})
	}
}

// membersOfHello returns the members that a data-bearing member names. It does not name hidden ones, and does not tell votes.
func membersOfHello(d *topology.Description) []SetMember {
	at := slices.IndexFunc(d.Servers, func(s *topology.Server) bool { return len(s.Hosts) > 0 })
	if at < 0 {
		return nil
	}
	var all []SetMember
	for _, host := range d.Servers[at].Hosts {
		all = append(all, SetMember{Address: host, Votes: 1, Priority: 1})
	}
	for _, host := range d.Servers[at].Passives { // their priority is 0
		all = append(all, SetMember{Address: host, Votes: 1})
	}
	for _, host := range d.Servers[at].Arbiters {
		all = append(all, SetMember{Address: host, Votes: 1, Arbiter: true})
	}
	return all
}

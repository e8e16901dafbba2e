package mongotest

import (
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// The real server's limits of a replica set.
const (
	maxMembers  = 50
	maxVoters   = 7
	maxPriority = 1000
)

// memberConfig is what a replica set's configuration says of a member. Every member knows it at once.
type memberConfig struct {
	id       int64
	priority float64
	votes    int64
	hidden   bool
	arbiter  bool
	tags     []byte        // nil for none
	delay    time.Duration // secondaryDelaySecs
	removed  bool          // the configuration does not name the member
}

// MemberOption sets something about one member, see [Member].
type MemberOption func(*memberSetup)

// memberSetup is what a member begins with.
type memberSetup struct {
	memberConfig
	lag time.Duration
}

// Member sets what the set's configuration says of its i-th member, counted from 0. Without it a member has data, one vote
// and priority 1.
func Member(i int, opts ...MemberOption) Option {
	return deploymentOption(func(c *config) {
		if c.setups == nil {
			c.setups = make(map[int][]MemberOption)
		}
		c.setups[i] = append(c.setups[i], opts...)
	})
}

// Priority sets a member's priority, from 0 to 1000. One of priority 0 is never elected; one of a higher priority than the
// primary's takes over from it when it has caught up.
func Priority(p float64) MemberOption { return func(s *memberSetup) { s.priority = p } }

// Votes sets how many votes a member has, 0 or 1. One without a vote must have priority 0.
func Votes(n int) MemberOption { return func(s *memberSetup) { s.votes = int64(n) } }

// Hidden keeps a member out of the other members' hello; clients do not find it. It must have priority 0.
func Hidden() MemberOption { return func(s *memberSetup) { s.hidden = true } }

// Arbiter makes a member that votes and has no data.
func Arbiter() MemberOption { return func(s *memberSetup) { s.arbiter = true } }

// Tags sets a member's tags, which read preferences and write concern modes name.
func Tags(tags map[string]string) MemberOption {
	return func(s *memberSetup) {
		at, doc := wire.BeginDocument(nil)
		for _, name := range slices.Sorted(maps.Keys(tags)) {
			doc = wire.AppendString(doc, name, tags[name])
		}
		s.tags = nil
		if len(tags) > 0 {
			s.tags = wire.EndDocument(doc, at)
		}
	}
}

// SecondaryDelay makes a member stay behind the primary on purpose, as its configuration's secondaryDelaySecs, in whole
// seconds. It must have priority 0. [Deployment.WaitIdle] does not wait for it.
func SecondaryDelay(d time.Duration) MemberOption { return func(s *memberSetup) { s.delay = d } }

// Lag sets how long after a write a member fetches it, beside the set's ReplicationDelay, as a slow network would. It is no
// part of the configuration; [Deployment.SetLag] changes it.
func Lag(d time.Duration) MemberOption { return func(s *memberSetup) { s.lag = d } }

// Spare makes a server that the set's configuration does not name at first. A replSetReconfig can add it.
func Spare() MemberOption { return func(s *memberSetup) { s.removed = true } }

// newMemberConfig is a member's configuration unless it says otherwise.
func newMemberConfig(id int64) memberConfig { return memberConfig{id: id, priority: 1, votes: 1} }

// voter reports whether the member votes.
func (c *memberConfig) voter() bool { return c.votes > 0 && !c.removed }

// bearsData reports whether the member has the set's data.
func (c *memberConfig) bearsData() bool { return !c.arbiter && !c.removed }

// electable reports whether the configuration lets the member be elected.
func (c *memberConfig) electable() bool { return c.priority > 0 && c.bearsData() }

// electable reports whether the member may be elected now.
func (m *member) electable() bool { return m.config.electable() && !time.Now().Before(m.frozen) }

// check completes the configuration as the real server does, or tells which of its rules it breaks.
func (c *memberConfig) check() *mongoerr.Error {
	if c.arbiter && c.priority == 1 {
		c.priority = 0
	}
	switch {
	case !(c.priority >= 0 && c.priority <= maxPriority):
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be between 0 and %d; found %v", maxPriority, c.priority)
	case c.votes < 0 || c.votes > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "votes must be 0 or 1; found %d", c.votes)
	case c.delay < 0 || c.delay%time.Second != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "secondaryDelaySecs must be a number of whole seconds that is not negative; found %v", c.delay)
	case c.arbiter && c.votes == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Arbiter must vote (cannot have 0 votes)")
	case c.arbiter && c.tags != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "Cannot set tags on arbiters.")
	case c.arbiter && c.priority > 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Arbiter priority must be 0; found %v", c.priority)
	case c.priority == 0:
		return nil
	case c.votes == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when non-voting (votes:0)")
	case c.delay > 0:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when secondaryDelaySecs is used")
	case c.hidden:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when hidden=true")
	}
	return nil
}

// checkMembers tells which rule the members of a configuration break together.
func checkMembers(list []memberConfig) *mongoerr.Error {
	voters, electable := 0, 0
	for i := range list {
		if list[i].voter() {
			voters++
		}
		if list[i].electable() {
			electable++
		}
	}
	switch {
	case voters == 0 || voters > maxVoters:
		return mongoerr.Errorf(mongoerr.BadValue, "Replica set configuration contains %d voting members, but must be at least 1 and no more than %d",
			voters, maxVoters)
	case electable == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Replica set configuration must contain at least one non-arbiter member with priority > 0")
	}
	return nil
}

// tag returns the value of one of the member's tags, empty if it has none of that name.
func (c *memberConfig) tag(name string) string {
	if c.tags == nil {
		return ""
	}
	v := query.Lookup(c.tags, name)
	return string(v.Text())
}

package mongotest

import (
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// MemberOption sets something about one member, see [Member].
type MemberOption func(*memberSetup)

// memberSetup is what a member begins with.
type memberSetup struct {
	setconfig.Member
	lag     time.Duration
	latency time.Duration
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
func Priority(p float64) MemberOption { return func(s *memberSetup) { s.Priority = p } }

// Votes sets how many votes a member has, 0 or 1. One without a vote must have priority 0.
func Votes(n int) MemberOption { return func(s *memberSetup) { s.Votes = int64(n) } }

// Hidden keeps a member out of the other members' hello; clients do not find it. It must have priority 0.
func Hidden() MemberOption { return func(s *memberSetup) { s.Hidden = true } }

// Arbiter makes a member that votes and has no data.
func Arbiter() MemberOption { return func(s *memberSetup) { s.Arbiter = true } }

// Tags sets a member's tags, which read preferences and write concern modes name.
func Tags(tags map[string]string) MemberOption {
	return func(s *memberSetup) {
		at, doc := wire.BeginDocument(nil)
		for _, name := range slices.Sorted(maps.Keys(tags)) {
			doc = wire.AppendString(doc, name, tags[name])
		}
		s.Tags = nil
		if len(tags) > 0 {
			s.Tags = wire.EndDocument(doc, at)
		}
	}
}

// SecondaryDelay makes a member stay behind the primary on purpose, as its configuration's secondaryDelaySecs, in whole
// seconds. It must have priority 0. [Deployment.WaitIdle] does not wait for it.
func SecondaryDelay(d time.Duration) MemberOption { return func(s *memberSetup) { s.Delay = d } }

// Lag sets how long after a write a member fetches it, beside the set's ReplicationDelay, as a slow network would. It is no
// part of the configuration; [Deployment.SetLag] changes it.
func Lag(d time.Duration) MemberOption { return func(s *memberSetup) { s.lag = d } }

// MemberLatency sets how much longer than [Latency] says bytes travel between a member and its clients, in each direction. It needs the
// option InMemory, and is no part of the configuration.
func MemberLatency(d time.Duration) MemberOption { return func(s *memberSetup) { s.latency = d } }

// Spare makes a server that the set's configuration does not name at first. A replSetReconfig can add it.
func Spare() MemberOption { return func(s *memberSetup) { s.Removed = true } }

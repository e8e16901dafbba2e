package inspect

import (
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// Facts are what a survey has found. [Check] judges them.
type Facts struct {
	At       time.Time
	Options  *options.ClientOptions // of the connection string
	View     *View
	Servers  []ServerFacts // those of the view, and the members of the shards
	Sets     []SetFacts    // the replica set, or the shards of a sharded cluster
	LoginErr error         // of a ping with the credentials

	Shards    []string // their hosts in the form set/host,host
	ShardsErr error

	Concern    DefaultConcern
	ConcernErr error
}

// unauthorized reports whether the deployment refused a command because of the user, or because there is none.
func (f *Facts) unauthorized() bool {
	const unauthorizedCode = 13
	all := []error{f.ShardsErr, f.ConcernErr}
	for i := range f.Sets {
		all = append(all, f.Sets[i].ConfigErr)
	}
	return slices.ContainsFunc(all, func(err error) bool {
		var refused mongo.CommandError
		return errors.As(err, &refused) && refused.Code == unauthorizedCode
	})
}

// ServerFacts are the answers of one server.
type ServerFacts struct {
	Address string
	Err     error // why there are no answers
	Role    string
	Release string // "8.0"; "" if it is not known
	// ClockDifference is the server's clock less this machine's. The truth may be ClockError more or less.
	ClockDifference, ClockError time.Duration
	ClockErr                    error
	CertificateEnd              time.Time // zero without TLS
	CertificateErr              error
}

// SetFacts are a replica set and its configuration.
type SetFacts struct {
	Name       string
	Shard      bool
	HasPrimary bool
	Err        error // why nothing is known of this set
	Members    []SetMember
	// ConfigErr says why Members are from the hello of a member, and not from the set's configuration: hidden members, votes and
	// delays are not known then.
	ConfigErr       error
	ElectionTimeout time.Duration // zero if it is not known
	// JournalOff: write concern majority does not wait for the journal.
	JournalOff bool
	// DefaultW is the w of settings.getLastErrorDefaults, which servers before 5.0 have in place of a default of the deployment.
	DefaultW any
}

// SetMember is a member in the configuration of a set.
type SetMember struct {
	Address         string
	Votes           int
	Priority        float64
	Hidden, Arbiter bool
	Delay           time.Duration
}

// DefaultConcern is the deployment's default write concern.
type DefaultConcern struct {
	W any // int32, or a string; nil if the server does not say
	J *bool
}

// hasData reports whether a member has data and a vote.
func (m *SetMember) hasData() bool { return !m.Arbiter && m.Votes > 0 }

// count returns the number of members for which is holds.
func (s *SetFacts) count(is func(*SetMember) bool) int {
	n := 0
	for i := range s.Members {
		if is(&s.Members[i]) {
			n++
		}
	}
	return n
}

// known reports whether the members are known.
func (s *SetFacts) known() bool { return s.Err == nil && len(s.Members) > 0 }

func (s *SetFacts) data() int { return s.count(func(m *SetMember) bool { return !m.Arbiter }) }

func (s *SetFacts) voters() int { return s.count(func(m *SetMember) bool { return m.Votes > 0 }) }

func (s *SetFacts) dataVoters() int { return s.count((*SetMember).hasData) }

// majority is the number of acknowledgements that write concern majority waits for: a majority of the voting members, or all voting members
// with data if these are fewer.
func (s *SetFacts) majority() int { return min(s.voters()/2+1, s.dataVoters()) }

// addresses returns the members for which is holds.
func (s *SetFacts) addresses(is func(*SetMember) bool) []string {
	var all []string
	for i := range s.Members {
		if is(&s.Members[i]) {
			all = append(all, s.Members[i].Address)
		}
	}
	return all
}

package call

import (
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// Cluster is what all commands of a deployment share. What may change and is not safe for concurrent use is guarded by the set's mutex.
type Cluster struct {
	Set        *replica.Set
	SetName    string
	Sharded    bool
	Members    []*Member
	Journal    *journal.Journal
	JournalKey func(command string, statement bson.Raw) string // nil for none

	Active  atomic.Int64 // messages being processed
	Idlers  atomic.Int64 // those who wait until there are none
	Running currentop.Operations
	Replies atomic.Int32 // request ids of replies
	cursors int64        // ids of cursors

	// Source returns what the stages of a command's pipelines read of the server.
	Source func(*Call) pipeline.Source
	// Execute executes a command of the deployment's own at a member.
	Execute func(member int, db string, command any) error

	RequireAuth     bool          // as soon as there is a user, clients must authenticate
	Guarded         atomic.Bool   // clients that have not authenticated are refused
	Roles           account.Roles // that somebody has created, and the built-in ones
	Users           []*account.Account
	AccountsChanged atomic.Int64 // how often users and roles were changed
	Defaulted       atomic.Bool  // there may be default concerns in the data
}

// User returns a user, nil if there is none. It is for callers without the set's mutex. Its result does not change.
func (rs *Cluster) User(db, name string) *account.Account {
	return rs.userWhere(func(a *account.Account) bool { return a.DB == db && a.Name == name })
}

// EnablesPlain reports whether a user has PLAIN. A real server has the mechanism only if it is configured.
func (rs *Cluster) EnablesPlain() bool { return rs.userWhere((*account.Account).HasPlain) != nil }

// userWhere returns the first user that is wanted, nil if there is none.
func (rs *Cluster) userWhere(wanted func(*account.Account) bool) *account.Account {
	rs.Set.Lock()
	defer rs.Set.Unlock()
	if i := slices.IndexFunc(rs.Users, wanted); i >= 0 {
		return rs.Users[i]
	}
	return nil
}

// User returns a user, nil if there is none.
func (x Locked) User(db, name string) *account.Account {
	return account.Named(x.Client.Cluster.Users, db, name)
}

// MemberOf returns the member that has a replica, nil for nil. It is called with the set's mutex held.
func (rs *Cluster) MemberOf(r *replica.Member) *Member {
	if r == nil {
		return nil
	}
	return rs.Members[r.Index]
}

// Rest notes the end of a message's processing and wakes WaitIdle.
func (rs *Cluster) Rest() {
	if rs.Active.Add(-1) == 0 && rs.Idlers.Load() > 0 {
		rs.Set.Changed()
	}
}

// MemberNamed returns the member with an address, nil if there is none.
func (x Locked) MemberNamed(addr string) *Member {
	for _, m := range x.Client.Cluster.Members {
		if m.Addr == addr {
			return m
		}
	}
	return nil
}

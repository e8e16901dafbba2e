package mongotest

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

// cluster is what all commands of a deployment share. What may change and is not safe for concurrent use is guarded by the set's mutex.
type cluster struct {
	set        *replica.Set
	setName    string
	sharded    bool
	members    []*member
	journal    *journal.Journal
	journalKey func(command string, statement bson.Raw) string // nil for none

	active  atomic.Int64 // messages being processed
	idlers  atomic.Int64 // those who wait until there are none
	running currentop.Operations
	replies atomic.Int32 // request ids of replies
	cursors int64        // ids of cursors

	// source returns what the stages of a command's pipelines read of the server.
	source func(*call) pipeline.Source
	// execute executes a command of the deployment's own at a member.
	execute func(member int, db string, command any) error

	requireAuth     bool          // as soon as there is a user, clients must authenticate
	guarded         atomic.Bool   // clients that have not authenticated are refused
	roles           account.Roles // that somebody has created, and the built-in ones
	users           []*account.Account
	accountsChanged atomic.Int64 // how often users and roles were changed
	defaulted       atomic.Bool  // there may be default concerns in the data
}

// userLocked returns a user, nil if there is none.
func (rs *cluster) userLocked(db, name string) *account.Account {
	for _, a := range rs.users {
		if a.DB == db && a.Name == name {
			return a
		}
	}
	return nil
}

// user is userLocked for callers without the set's mutex. Its result does not change.
func (rs *cluster) user(db, name string) *account.Account {
	rs.set.Lock()
	defer rs.set.Unlock()
	return rs.userLocked(db, name)
}

// enablesPlain reports whether a user has PLAIN. A real server has the mechanism only if it is configured.
func (rs *cluster) enablesPlain() bool {
	rs.set.Lock()
	defer rs.set.Unlock()
	return slices.ContainsFunc(rs.users, (*account.Account).HasPlain)
}

// memberOf returns the member that has a replica, nil for nil. It is called with the set's mutex held.
func (rs *cluster) memberOf(r *replica.Member) *member {
	if r == nil {
		return nil
	}
	return rs.members[r.Index]
}

// rest notes the end of a message's processing and wakes WaitIdle.
func (rs *cluster) rest() {
	if rs.active.Add(-1) == 0 && rs.idlers.Load() > 0 {
		rs.set.Lock()
		rs.set.ChangedLocked()
		rs.set.Unlock()
	}
}

// memberNamedLocked returns the member with an address, nil if there is none.
func (rs *cluster) memberNamedLocked(addr string) *member {
	for _, m := range rs.members {
		if m.Addr == addr {
			return m
		}
	}
	return nil
}

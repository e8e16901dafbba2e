package router

import (
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// toPrimary selects the server that takes writes.
var toPrimary = &topology.Selection{Write: true}

// describe makes the operation of a command, and notes in f what its attempts need.
func (c *client) describe(f *forwarded, preference *readpref.ReadPref) {
	q := f.command
	route := routeOf(q)
	op := &f.op
	*op = operation.Operation{
		Name: q.Name, Database: q.Database, Command: f, LargeReply: &f.large, AdmitReply: f.admit, Selection: toPrimary, Session: operation.NoSession,
		OwnTimeLimit: true, ClusterTime: q.clusterTime, RetryUntil: f.began.Add(c.router.cfg.Window), Waits: f.enter, Retryable: true,
		Kind: operation.Write, Idempotency: retry.NotIdempotent,
	}
	switch route {
	case once:
		op.Several = true
		op.Retryable = !f.unacknowledged()
	case ends:
		op.Idempotency = retry.Idempotent
	case writesOne:
		if q.numbered {
			op.Idempotency = retry.Idempotent
		} else if !c.router.single() {
			op.Session, f.ownSession = nil, true
		}
	case reads, readsAnywhere, leaves:
		op.Kind, op.Idempotency = operation.Read, retry.ReadOnly
	}
	if q.Unanswered() {
		op.WriteConcern = operation.WriteConcern{WriteConcern: writeconcern.Unacknowledged()}
	}
	if c.account != nil {
		op.User = c.account.user
	}
	c.place(f, route, preference)
}

// place decides where the operation goes.
func (c *client) place(f *forwarded, route route, preference *readpref.ReadPref) {
	op := &f.op
	switch {
	case f.command.Name == "getMore", f.command.Name == "killCursors":
		op.Kind, op.Idempotency, op.Retryable = operation.Read, retry.ReadOnly, false // only one member has the cursor
		f.searches = true
		return
	case route == leaves:
		op.Selection = c.router.selection(readpref.PrimaryPreferred())
	case route == readsAnywhere && preference != nil && preference.Mode() != readpref.PrimaryMode:
		op.Selection = c.router.selection(preference)
		op.Request = c.reads
		c.sendPreference(op, f, preference)
	case route == readsAnywhere && c.reads != nil:
		c.reads.Unpin() // a read of the primary has another preference; it waits as without a request
	}
	if f.command.transaction {
		c.placeTransaction(f)
	}
	op.Pin = &f.pin
}

// sendPreference has the read preference sent with the command: as it came, unless it came as the slaveOk bit only, or a direct connection behind the
// router has a rule of its own for it.
func (c *client) sendPreference(op *operation.Operation, f *forwarded, preference *readpref.ReadPref) {
	f.obeys = f.command.preferenceType != 0 && !c.router.single()
	if !f.obeys {
		op.ReadPreference = preference
	}
}

func (r *Router) selection(preference *readpref.ReadPref) *topology.Selection {
	s := r.window
	s.ReadPref = preference
	return &s
}

// single reports whether the router is in front of one server, by a direct connection.
func (r *Router) single() bool {
	return r.runner.Cluster().Snapshot().Description.Type == topology.Single
}

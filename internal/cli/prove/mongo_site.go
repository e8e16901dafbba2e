package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// roundTrips is the number of round trips of an attempt on a new connection: connecting, its handshake, the command.
const roundTrips = 3

// mongoServers are the servers of one cell.
type mongoServers interface {
	// target returns the URI and the dialer for clients. The cell sets the other fields.
	target() Target
	// intercept adds middleware to every update command, until the returned function is called.
	intercept(m mongotest.Middleware) (remove func())
	// strike injects a fault of the cluster. repair, which may be nil, repairs it.
	strike(kind FaultKind) (repair func(), err error)
	// awaitPrimary waits until there is a primary with a majority.
	awaitPrimary(ctx context.Context) error
	blackout()
	restore(ctx context.Context) error
	journal() ([]mongotest.Entry, bool)
	delay(attempts int) time.Duration
	close() error
}

// mongoSite is the site of one cell: servers, and the clients of the driver under test.
type mongoSite struct {
	mongoServers
	dial    Dial
	client  Target // of writers
	audited Target // of the audit
}

func newMongoSite(s mongoServers, c *cell) *mongoSite {
	t := s.target()
	t.Database, t.Collection = Database, c.name()
	t.RetryWrites, t.W, t.Timing = c.strategy.RetryWrites, c.settings.W, c.settings.Timing
	return &mongoSite{mongoServers: s, dial: c.dial, client: t, audited: t}
}

func (m *mongoSite) connect() (session, error) { return m.dial(m.client) }

func (m *mongoSite) awaitWritable(ctx context.Context) error { return m.awaitPrimary(ctx) }

func (m *mongoSite) strike(f *planned, _ string) (func() error, error) {
	repair, err := m.mongoServers.strike(f.kind)
	if repair == nil {
		return nil, err
	}
	return func() error { repair(); return nil }, err
}

func (m *mongoSite) intercept(decide func(message) treatment) func() {
	return m.mongoServers.intercept(mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if r.Database != Database {
			return mongotest.Fault{}
		}
		p, ok := partOfCommand(r.Body)
		if !ok {
			return mongotest.Fault{}
		}
		return mongoFault(decide(message{part: p, id: messageID{r.ConnID, r.RequestID}}))
	}))
}

func mongoFault(t treatment) mongotest.Fault {
	f := mongotest.Fault{
		Before: t.before, Late: t.late, LoseRequest: t.loseRequest, AfterApply: t.afterApply, After: t.after, LoseReply: t.loseReply,
	}
	switch {
	case t.refuse == nil:
	case t.refuse.kind == ServerOverloaded:
		f.Error = overload()
	default:
		f.Error = refusal(t.refuse.code)
	}
	return f
}

func refusal(code int32) *mongotest.CommandError {
	for _, r := range refusals {
		if r.code == code {
			return &mongotest.CommandError{Code: r.code, Name: r.name, Message: r.message}
		}
	}
	return nil
}

func overload() *mongotest.CommandError {
	return &mongotest.CommandError{
		Code: 462, Name: "IngressRequestRateLimitExceeded", Message: "the server rejects requests, to protect itself",
		Labels: []string{"SystemOverloadedError", "RetryableError"},
	}
}

func (m *mongoSite) journal() ([]entry, bool) {
	journal, known := m.mongoServers.journal()
	entries := make([]entry, len(journal))
	for i := range journal {
		entries[i] = mongoEntry(&journal[i])
	}
	return entries, known
}

func mongoEntry(e *mongotest.Entry) entry {
	failed := e.ErrorCode != 0 || e.WriteConcernErrorCode != 0
	return entry{
		id: messageID{e.ConnID, e.RequestID}, place: e.Seq, key: e.Key, applied: e.Applied, lost: e.RolledBack, requestLost: e.RequestLost,
		replyLost: e.ReplyLost, troubled: !e.Answered || failed, failed: failed,
		changed: slices.Contains(stateChanges, int(e.ErrorCode)) || slices.Contains(stateChanges, int(e.WriteConcernErrorCode)),
		failure: mongoFailure(e), server: e.Member, at: e.Time, repeated: e.Deduplicated,
	}
}

func mongoFailure(e *mongotest.Entry) string {
	switch {
	case e.ErrorCode != 0:
		return fmt.Sprintf("error %d", e.ErrorCode)
	case e.WriteConcernErrorCode != 0:
		return fmt.Sprintf("write concern error %d", e.WriteConcernErrorCode)
	}
	return ""
}

// read reads all documents with a client that does not retry.
func (m *mongoSite) read(ctx context.Context, _ []string) ([]tally, error) {
	t := m.audited
	t.RetryWrites = false
	client, err := m.dial(t)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	documents, err := client.Read(ctx)
	if err = errors.Join(err, client.Close(ctx)); err != nil {
		return nil, err
	}
	tallies := make([]tally, len(documents))
	for i, d := range documents {
		if tallies[i], err = mongoTally(d); err != nil {
			return nil, err
		}
	}
	return tallies, nil
}

func mongoTally(document bson.Raw) (tally, error) {
	t := tally{name: document.Lookup("_id").StringValue(), ops: make(map[string]int64)}
	t.counter, _ = document.Lookup(fieldCounter).AsInt64OK()
	ops, ok := document.Lookup(fieldOps).DocumentOK()
	if !ok {
		return t, nil
	}
	elements, err := ops.Elements()
	if err != nil {
		return t, fmt.Errorf("document %s: %w", t.name, err)
	}
	for _, e := range elements {
		t.ops[e.Key()], _ = e.Value().AsInt64OK()
	}
	return t, nil
}

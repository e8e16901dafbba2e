package mongo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// databaseCommand is a command on a database whose reply has a cursor, such as aggregate.
type databaseCommand struct {
	elements bson.Raw
	cursor   *Cursor
}

func (c *databaseCommand) AppendTo(b []byte, _ operation.Attempt) ([]byte, error) {
	return append(b, c.elements[4:len(c.elements)-1]...), nil
}

func (c *databaseCommand) Accept(reply *operation.Reply) error { return c.cursor.accept(reply) }

// fiveDocuments opens cursors of a database with five documents, in batches of two.
type fiveDocuments struct {
	*testing.T
	db   *Database
	sent []bson.Raw
	keep bool // cursors are pinned to their connection
}

func onDatabase(t *testing.T, f func(*fiveDocuments)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version("8.0"))
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		five := &fiveDocuments{T: t}
		monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			five.sent = append(five.sent, e.Command)
		}}
		client, err := Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetMonitor(monitor))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Disconnect(t.Context())
		five.db = client.Database("test")
		f(five)
	})
}

// open opens a cursor in a session. Nil means an implicit one.
func (f *fiveDocuments) open(s *Session) (*Cursor, error) {
	f.Helper()
	documents := bson.A{}
	for i := range 5 {
		documents = append(documents, bson.D{{Key: "n", Value: i}})
	}
	command, err := bson.Marshal(bson.D{
		{Key: "aggregate", Value: 1},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$documents", Value: documents}}}},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: 2}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	ctx := NewSessionContext(f.Context(), s)
	cursor := newCursor(ctx, f.db, "", f.db.scope)
	cursor.batchSize, cursor.pin.KeepConnection = 2, f.keep
	return cursor, cursor.open(ctx, &operation.Operation{
		Name: "aggregate", Database: f.db.name, Command: &databaseCommand{elements: command, cursor: cursor},
		Kind: operation.Read, Idempotency: retry.ReadOnly, Retryable: true, Selection: f.db.scope.reads,
	})
}

func (f *fiveDocuments) mustOpen(s *Session) *Cursor {
	f.Helper()
	c, err := f.open(s)
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// Source: Find, getMore and killCursors Commands specification: a getMore has the namespace of the cursor's reply.
func TestACursorOfADatabaseReturnsAllDocuments(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		var all []bson.D
		if err := f.mustOpen(nil).All(f.Context(), &all); err != nil || len(all) != 5 {
			f.Fatalf("%v, %v", all, err)
		}
		if len(f.sent) != 3 {
			f.Fatalf("%d commands were sent, want an aggregate and two getMores", len(f.sent))
		}
		for _, getMore := range f.sent[1:] {
			if name := getMore.Lookup("collection").StringValue(); name != "$cmd.aggregate" {
				f.Errorf("a getMore names the collection %q", name)
			}
			if !getMore.Lookup("lsid").Equal(f.sent[0].Lookup("lsid")) {
				f.Error("a getMore runs in another session")
			}
		}
	})
}

func TestACursorOfADatabaseIsClosedOnItsServer(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		c := f.mustOpen(nil)
		id := c.ID()
		for range 2 {
			if err := c.Close(f.Context()); err != nil {
				f.Fatal(err)
			}
		}
		kill := f.sent[len(f.sent)-1]
		killed, _ := kill.Lookup("cursors").Array().Values()
		if len(f.sent) != 2 || kill.Lookup("killCursors").StringValue() != "$cmd.aggregate" || len(killed) != 1 || killed[0].AsInt64() != id {
			f.Errorf("the command is %v", kill)
		}
	})
}

func TestACursorEndsOnlyAnImplicitSession(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		explicit, err := f.db.client.StartSession()
		if err != nil {
			f.Fatal(err)
		}
		first := f.mustOpen(explicit)
		if err := first.Close(f.Context()); err != nil {
			f.Fatal(err)
		}
		second := f.mustOpen(explicit)
		explicit.EndSession(f.Context())
		for range 2 { // from the first batch
			second.Next(f.Context())
		}
		if second.Next(f.Context()) || !errors.Is(second.Err(), operation.ErrSessionEnded) {
			f.Errorf("after the session's end: %v", second.Err())
		}
		implicit := f.mustOpen(nil)
		if err := implicit.Close(f.Context()); err != nil {
			f.Fatal(err)
		}
		if err := implicit.getMore(f.Context()); !errors.Is(err, operation.ErrSessionEnded) {
			f.Errorf("the implicit session of a closed cursor: %v", err)
		}
	})
}

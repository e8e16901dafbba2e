package bench

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/mongo"
)

// path is a hot path of our client beside FindOne and InsertOne.
type path struct {
	name string
	unit float64 // how many of the things that are counted one call does
	most float64 // allocations of each
	call operation
}

// TestAllocationsOfPaths counts the allocations of the other hot paths, one goroutine on one connection.
func TestAllocationsOfPaths(t *testing.T) {
	skipIfRace(t)
	ctx := context.Background()
	c, err := mongo.Connect(plainly(startServer(t), 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(ctx) })
	session, err := c.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.EndSession(ctx) })
	db := c.Database(canned.Database)
	p := paths{
		accounts: db.Collection(canned.Collection), batches: db.Collection(canned.FlatBatch), imports: db.Collection(canned.Imports),
		inside: mongo.NewSessionContext(ctx, session), session: session,
	}
	for _, path := range []path{
		{"find-document", canned.BatchSize, 2, p.iterate},
		{"insertmany-document", canned.BatchSize, 1, p.insertMany},
		{"bulkwrite-insert", canned.BatchSize, 1, p.bulkInsert},
		{"bulkwrite-update", canned.BatchSize, 0, p.bulkUpdate},
		{"updateone", 1, 4, p.updateOne},
		{"session-insertone", 1, 3, p.insertInSession},
		{"transaction-insertone", inTransaction, 3, p.transaction},
	} {
		n := load{workers: 1}.allocationsOf(t, path.call, max(1, int(operations/10/path.unit))) / path.unit
		fmt.Printf("figure %s-allocs %.2f\n", path.name, n)
		holdAllocations(t, path.name, n, path.most)
	}
}

// paths are the calls that are measured.
type paths struct {
	accounts, batches, imports *mongo.Collection

	inside  context.Context // of the session
	session *mongo.Session
}

func (p paths) iterate(ctx context.Context, _ int) error {
	cursor, err := p.batches.Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	var a account
	n := 0
	for ; cursor.Next(ctx); n++ {
		if err := cursor.Decode(&a); err != nil {
			return err
		}
	}
	if n != canned.BatchSize {
		return fmt.Errorf("%w: %d documents", errWrongBatch, n)
	}
	return cursor.Err()
}

var imported = newBatch()

func (p paths) insertMany(ctx context.Context, _ int) error {
	_, err := p.imports.InsertMany(ctx, imported)
	return err
}

var insertModels, updateModels = func() (inserts, updates []mongo.WriteModel) {
	a := newAccount()
	for range canned.BatchSize {
		inserts = append(inserts, mongo.NewInsertOneModel().SetDocument(&a))
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(byID).SetUpdate(increment))
	}
	return inserts, updates
}()

var (
	byID      = bson.D{{Key: "_id", Value: canned.ID}}
	increment = bson.D{{Key: "$inc", Value: bson.D{{Key: "age", Value: 1}}}}
)

func (p paths) bulkInsert(ctx context.Context, _ int) error {
	_, err := p.imports.BulkWrite(ctx, insertModels)
	return err
}

func (p paths) bulkUpdate(ctx context.Context, _ int) error {
	_, err := p.accounts.BulkWrite(ctx, updateModels)
	return err
}

func (p paths) updateOne(ctx context.Context, _ int) error {
	r, err := p.accounts.UpdateOne(ctx, byID, increment)
	if err != nil || r.ModifiedCount == 1 {
		return err
	}
	return fmt.Errorf("%w: %+v", errWrongDocument, r)
}

func (p paths) insertInSession(context.Context, int) error {
	_, err := p.accounts.InsertOne(p.inside, newAccount())
	return err
}

const inTransaction = 100

// transaction inserts documents in one transaction, whose start and end are counted too.
func (p paths) transaction(context.Context, int) error {
	if err := p.session.StartTransaction(); err != nil {
		return err
	}
	for range inTransaction {
		if err := p.insertInSession(nil, 0); err != nil { //nolint:staticcheck // it has a context of its own
			return err
		}
	}
	return p.session.CommitTransaction(p.inside)
}

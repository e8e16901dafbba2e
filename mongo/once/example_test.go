package once_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// shop is a standalone server, which cannot recognise a repeated command, with a collection.
type shop struct {
	server   *mongotest.Deployment
	client   *mongo.Client
	counters *mongo.Collection
}

func openShop() *shop {
	server, err := mongotest.RunStandalone()
	check(err)
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	check(err)
	return &shop{server, client, client.Database("shop").Collection("counters")}
}

func (s *shop) close() {
	check(s.client.Disconnect(context.Background()))
	check(s.server.Close())
}

// dies makes each program die between its two steps, as the server sees it. A token has an age only when the clock has moved on.
func (s *shop) dies() (end func()) {
	return s.server.Use("update", mongotest.While(isSecondStep, mongotest.Fault{Delay: 2 * time.Millisecond, LoseRequest: true}))
}

// n returns the value of the counter "visits".
func (s *shop) n() int {
	var counter struct{ N int }
	check(s.counters.FindOne(context.Background(), visits).Decode(&counter))
	return counter.N
}

var (
	visits   = bson.D{{Key: "_id", Value: "visits"}}
	oneVisit = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	create   = options.UpdateOne().SetUpsert(true)
)

// The reply to the first step of an increment is lost, on a server that cannot recognise a repeated command.
func Example() {
	ctx := context.Background()
	server, err := mongotest.RunStandalone()
	check(err)
	defer server.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	check(err)
	defer client.Disconnect(ctx)
	plain := client.Database("shop").Collection("counters")

	counters, err := once.New(plain, once.Options{})
	check(err)
	server.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	visits := bson.D{{Key: "_id", Value: "visits"}}
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	_, err = counters.UpdateOne(ctx, visits, increment, options.UpdateOne().SetUpsert(true))
	check(err)

	var counter struct{ N int }
	check(plain.FindOne(ctx, visits).Decode(&counter))
	fmt.Println("n:", counter.N)
	// Output: n: 1
}

// A program that starts again uses the id that it has noted before its first attempt.
func ExampleCollection_UpdateOneAs() {
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)

	id := bson.NewObjectID() // noted in a file, or in the message that is processed
	for range 3 {
		_, err = counters.UpdateOneAs(context.Background(), id, visits, oneVisit, create)
		check(err)
	}
	fmt.Println("n:", s.n())
	// Output: n: 1
}

// The updates of programs that died are finished.
func ExampleCollection_Sweep() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	_, err = s.counters.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: counters.SweepIndex(), Options: options.Index().SetSparse(true)})
	check(err)
	result, err := counters.Sweep(ctx, once.SweepOptions{OlderThan: 10 * time.Minute})
	check(err)
	fmt.Println("pending:", result.Tokens, "still pending:", result.Failures)
	// Output: pending: 0 still pending: 0
}

// Documents may be named by a field that has a unique index.
func ExampleOptions() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	users, err := once.New(s.counters, once.Options{Field: "tokens", Finished: 100, UniqueKeys: []string{"email"}})
	check(err)
	_, err = users.InsertOne(ctx, bson.D{{Key: "email", Value: "ann@example.org"}})
	check(err)
	result, err := users.DeleteOne(ctx, bson.D{{Key: "email", Value: "ann@example.org"}})
	check(err)
	fmt.Println("deleted:", result.DeletedCount)
	// Output: deleted: 1
}

// counting is a collection that counts its updates.
type counting struct {
	*mongo.Collection
	updates int
}

// UpdateOne counts an update.
func (c *counting) UpdateOne(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*mongo.UpdateResult, error) {
	c.updates++
	return c.Collection.UpdateOne(ctx, filter, update, opts...)
}

// A collection of this module or of the official driver is a Source, and so is one around it.
func ExampleSource() {
	s := openShop()
	defer s.close()
	source := &counting{Collection: s.counters}
	var _ once.Source[*mongo.Cursor] = source
	counters, err := once.New(source, once.Options{})
	check(err)
	_, err = counters.UpdateOne(context.Background(), visits, oneVisit, create)
	check(err)
	fmt.Println("steps:", source.updates)
	// Output: steps: 2
}

// limited is a Source of its own Find and the other methods of a collection.
type limited struct {
	once.Commands
	collection *mongo.Collection
}

// Find gives the server two seconds.
func (l limited) Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (*mongo.Cursor, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return l.collection.Find(ctx, filter, opts...)
}

// The methods that are the same in every client may be taken from a collection.
func ExampleCommands() {
	s := openShop()
	defer s.close()
	counters, err := once.New(limited{Commands: s.counters, collection: s.counters}, once.Options{})
	check(err)
	result, err := counters.UpdateMany(context.Background(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "open", Value: true}}}})
	check(err)
	fmt.Println("modified:", result.ModifiedCount)
	// Output: modified: 0
}

// A find is sent once more after a network error. Its cursor is the client's.
func ExampleCursor() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	_, err = counters.InsertOne(ctx, visits)
	check(err)
	s.server.Use("find", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	cursor, err := counters.Find(ctx, bson.D{})
	check(err)
	defer cursor.Close(ctx)
	for cursor.Next(ctx) {
		var counter struct {
			ID string `bson:"_id"`
		}
		check(cursor.Decode(&counter))
		fmt.Println(counter.ID)
	}
	check(cursor.Err())
	// Output: visits
}

// A report before the sweep itself.
func ExampleSweepOptions() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	end := s.dies()
	_, err = counters.UpdateOne(ctx, visits, oneVisit, create)
	end()
	fmt.Println("the program died:", err != nil)

	report, err := counters.Sweep(ctx, once.SweepOptions{OlderThan: time.Nanosecond, ReportOnly: true})
	check(err)
	fmt.Println("pending:", report.Tokens)
	_, err = counters.Sweep(ctx, once.SweepOptions{
		OlderThan: time.Nanosecond,
		BatchSize: 100,
		Progress:  func(r once.SweepResult) { fmt.Println("applied so far:", r.Applied) },
	})
	check(err)
	fmt.Println("n:", s.n())
	// Output:
	// the program died: true
	// pending: 1
	// applied so far: 1
	// n: 1
}

// A document that cannot take its update keeps it, and the result names it.
func ExampleSweepResult() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	result, err := sweepOfARefusedUpdate(ctx, s)
	check(err)
	fmt.Println("applied:", result.Applied, "still pending:", result.Failures)
	fmt.Println("an error names them:", result.Err() != nil)
	// Output:
	// applied: 0 still pending: 1
	// an error names them: true
}

// Each failed token has its document and the reason.
func ExampleFailedToken() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	result, err := sweepOfARefusedUpdate(ctx, s)
	check(err)
	for _, f := range result.Failed {
		var refused mongo.WriteException
		fmt.Println(f.DocumentID, "refused by the document:", errors.As(f.Err, &refused))
	}
	// Output: "visits" refused by the document: true
}

// sweepOfARefusedUpdate sweeps the update of a program that died, after the counter has become a text.
func sweepOfARefusedUpdate(ctx context.Context, s *shop) (once.SweepResult, error) {
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	end := s.dies()
	_, err = counters.UpdateOne(ctx, visits, oneVisit, create)
	end()
	if err == nil {
		panic("the second step was not lost")
	}
	_, err = counters.UpdateOne(ctx, visits, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: "many"}}}})
	check(err)
	return counters.Sweep(ctx, once.SweepOptions{OlderThan: time.Nanosecond})
}

// An error has the id with which the update can be finished.
func ExampleError() {
	ctx := context.Background()
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	end := s.dies()
	_, err = counters.UpdateOne(ctx, visits, oneVisit, create)
	end()
	var failed *once.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Operation, "failed:", failed.State)
		_, err = counters.UpdateOneAs(ctx, failed.ID, visits, oneVisit, create)
	}
	check(err)
	fmt.Println("n:", s.n())
	// Output:
	// UpdateOne failed: it is not known whether it is applied or pending
	// n: 1
}

// The state says how a program goes on.
func ExampleState() {
	s := openShop()
	defer s.close()
	counters, err := once.New(s.counters, once.Options{})
	check(err)
	s.server.Use("update", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}))
	_, err = counters.UpdateOne(context.Background(), visits, oneVisit, create)
	var failed *once.Error
	if !errors.As(err, &failed) {
		return
	}
	switch failed.State {
	case once.NotApplied:
		fmt.Println("it may be made again, with a new id")
	case once.Pending:
		fmt.Println("a sweep will apply it")
	case once.Unknown:
		fmt.Println("only a call with the same id is safe")
	}
	// Output: it may be made again, with a new id
}

package mongotest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongotest"
)

// long is an expression that takes minutes with {n: 50000}, and milliseconds with {n: 1}.
const long = `{"$sum": {"$map": {"input": {"$range": [0, "$n"]}, "in": {"$size": {"$map": {"input": {"$range": [0, {"$multiply": ["$n", 1]}]}, "in": "$$this"}}}}}}`

// longCommands take minutes with {_id: 1, n: 50000}, in every place that has an expression.
var longCommands = []struct{ name, command string }{
	{"find", `{"find": "c", "filter": {"$expr": {"$lt": [LONG, 0]}}}`},
	{"find, projection", `{"find": "c", "projection": {"x": LONG}}`},
	{"count", `{"count": "c", "query": {"$expr": {"$lt": [LONG, 0]}}}`},
	{"distinct", `{"distinct": "c", "key": "n", "query": {"$expr": {"$lt": [LONG, 0]}}}`},
	{"aggregate", `{"aggregate": "c", "pipeline": [{"$project": {"x": LONG}}], "cursor": {}}`},
	{"aggregate, lookup", `{"aggregate": "one", "pipeline": [{"$lookup": {"from": "c", "as": "x", "pipeline": [{"$match": {"$expr": {"$lt": [LONG, 0]}}}]}}], "cursor": {}}`},
	{"aggregate, out", `{"aggregate": "c", "pipeline": [{"$project": {"x": LONG}}, {"$out": "d"}], "cursor": {}}`},
	{"aggregate, merge", `{"aggregate": "one", "pipeline": [{"$merge": {"into": "one", "whenMatched": [{"$set": {"x": LONG}}]}}], "cursor": {}}`},
	{"a view", `{"find": "v"}`},
	{"update, filter", `{"update": "c", "updates": [{"q": {"$expr": {"$lt": [LONG, 0]}}, "u": {"$set": {"x": 1}}}]}`},
	{"update, pipeline", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"x": LONG}}]}]}`},
	{"update, many", `{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"x": LONG}}], "multi": true}]}`},
	{"update, sorted", `{"update": "c", "updates": [{"q": {"$expr": {"$lt": [LONG, 0]}}, "u": {"$set": {"x": 1}}, "sort": {"n": 1}}]}`},
	{"upsert", `{"update": "c", "updates": [{"q": {"_id": 9, "n": 50000}, "u": [{"$set": {"x": LONG}}], "upsert": true}]}`},
	{"delete", `{"delete": "c", "deletes": [{"q": {"$expr": {"$lt": [LONG, 0]}}, "limit": 0}]}`},
	{"findAndModify", `{"findAndModify": "c", "query": {"$expr": {"$lt": [LONG, 0]}}, "update": {"$set": {"x": 1}}}`},
	{"findAndModify, pipeline", `{"findAndModify": "c", "query": {"_id": 1}, "update": [{"$set": {"x": LONG}}]}`},
	{"bulkWrite", `{"bulkWrite": 1, "ops": [{"update": 0, "filter": {"_id": 1}, "updateMods": [{"$set": {"x": LONG}}]}], "nsInfo": [{"ns": "db.c"}]}`},
	{"insert, validator", `{"insert": "checked", "documents": [{"n": 50000}]}`},
}

// withLong runs test on a set that has the documents of longCommands.
func withLong(t *testing.T, test func(t *testing.T, rs *mongotest.Deployment, client *mongo.Client)) {
	t.Helper()
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.Version("8.0"))
	client := connect(t, rs)
	db := client.Database("db")
	for _, text := range []string{
		`{"insert": "c", "documents": [{"_id": 1, "n": 50000}, {"_id": 2, "n": 1}]}`,
		`{"insert": "one", "documents": [{"_id": 1, "n": 50000}]}`,
		`{"create": "v", "viewOn": "c", "pipeline": [{"$project": {"x": LONG}}]}`,
		`{"create": "checked", "validator": {"$expr": {"$gte": [LONG, 0]}}}`,
	} {
		if err := db.RunCommand(t.Context(), longCommand(t, text)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	test(t, rs, client)
}

func longCommand(t *testing.T, text string) bson.D {
	t.Helper()
	return document(t, strings.ReplaceAll(text, "LONG", long))
}

// listed returns the opid of the command that has been evaluated for long, or 0.
func listed(t *testing.T, client *mongo.Client, name string) int32 {
	t.Helper()
	var reply struct {
		Inprog []struct {
			OpID    int32
			Command bson.Raw
		}
	}
	if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "currentOp", Value: 1}}).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	for _, op := range reply.Inprog {
		if !op.Command.Lookup(name).IsZero() {
			return op.OpID
		}
	}
	return 0
}

// awaitListed returns the opid of a command as soon as it is listed.
func awaitListed(t *testing.T, rs *mongotest.Deployment, client *mongo.Client, name string) int32 {
	t.Helper()
	for {
		changed := rs.ListChanged()
		if id := listed(t, client, name); id != 0 {
			return id
		}
		<-changed
	}
}

// awaitUnlisted waits until a command is no longer listed.
func awaitUnlisted(t *testing.T, rs *mongotest.Deployment, client *mongo.Client, name string) {
	t.Helper()
	for {
		changed := rs.ListChanged()
		if listed(t, client, name) == 0 {
			return
		}
		<-changed
	}
}

// A command that is evaluated for minutes delays no other one, is listed, and ends when it is killed.
func TestALongCommandDelaysNoOther(t *testing.T) {
	withLong(t, func(t *testing.T, rs *mongotest.Deployment, client *mongo.Client) {
		for i, c := range longCommands {
			t.Run(c.name, func(t *testing.T) {
				command := longCommand(t, c.command)
				db := client.Database("db")
				if command[0].Key == "bulkWrite" {
					db = client.Database("admin")
				}
				ended := make(chan error, 1)
				go func() { ended <- db.RunCommand(t.Context(), command).Err() }()
				id := awaitListed(t, rs, client, command[0].Key)
				if _, err := client.Database("db").Collection("others").InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}}); err != nil {
					t.Error(err)
				}
				if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: id}}).Err(); err != nil {
					t.Error(err)
				}
				var e mongo.CommandError
				if err := <-ended; !errors.As(err, &e) || e.Code != 11601 {
					t.Errorf("the killed command returns %v", err)
				}
				if again := listed(t, client, command[0].Key); again != 0 {
					t.Errorf("it is listed after its end, as %d", again)
				}
			})
		}
	})
}

// What a secondary's pipeline writes on the primary is listed too, ends by the time limit, and is not listed afterwards.
func TestALongMergeThroughASecondaryEnds(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 2)
	client := connect(t, rs)
	one := client.Database("db").Collection("one", options.Collection().SetWriteConcern(writeconcern.Majority()))
	if _, err := one.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 50000}}); err != nil {
		t.Fatal(err)
	}
	command := longCommand(t, `{"aggregate": "one", "pipeline": [{"$merge": {"into": "one", "whenMatched": [{"$set": {"x": LONG}}]}}], "cursor": {}, "maxTimeMS": 100}`)
	var e mongo.CommandError
	err := client.Database("db").RunCommand(t.Context(), command, options.RunCmd().SetReadPreference(readpref.Secondary())).Err()
	if !errors.As(err, &e) || e.Code != 50 {
		t.Errorf("the command returns %v", err)
	}
	if id := listed(t, client, "aggregate"); id != 0 {
		t.Errorf("it is listed after its end, as %d", id)
	}
}

// The time limit of a command ends its evaluation.
func TestMaxTimeMSEndsALongCommand(t *testing.T) {
	withLong(t, func(t *testing.T, _ *mongotest.Deployment, client *mongo.Client) {
		for _, c := range longCommands {
			command := append(longCommand(t, c.command), bson.E{Key: "maxTimeMS", Value: 20})
			db := client.Database("db")
			if command[0].Key == "bulkWrite" {
				db = client.Database("admin")
			}
			var e mongo.CommandError
			if err := db.RunCommand(t.Context(), command).Err(); !errors.As(err, &e) || e.Code != 50 {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// The end of a client ends its command.
func TestTheEndOfAClientEndsItsLongCommand(t *testing.T) {
	withLong(t, func(t *testing.T, rs *mongotest.Deployment, client *mongo.Client) {
		for _, c := range longCommands {
			command := longCommand(t, c.command)
			if !slices.Contains([]string{"find", "aggregate, lookup", "update, many"}, c.name) {
				continue // its evaluation asks the same
			}
			other := connect(t, rs)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { _ = other.Database("db").RunCommand(ctx, command).Err() })
			awaitListed(t, rs, client, command[0].Key)
			cancel() // the driver closes the connection
			wg.Wait()
			awaitUnlisted(t, rs, client, command[0].Key)
		}
	})
}

// Writes that give up the mutex while they are evaluated are as exact as the others.
func TestWritesThatPauseAreExact(t *testing.T) {
	const documents, rounds = 40, 2
	rs := mongotest.RunReplicaSetT(t, 1)
	client := connect(t, rs)
	c := client.Database("db").Collection("c")
	for i := range documents {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}, {Key: "n", Value: 60}, {Key: "slow", Value: 0}, {Key: "fast", Value: 0}}); err != nil {
			t.Fatal(err)
		}
	}
	filter := document(t, strings.ReplaceAll(`{"$expr": {"$gte": [LONG, 0]}}`, "LONG", long))
	slow := bson.A{document(t, strings.ReplaceAll(`{"$set": {"slow": {"$add": ["$slow", 1, {"$multiply": [0, LONG]}]}}}`, "LONG", long))}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range rounds {
				if r, err := c.UpdateMany(t.Context(), filter, slow); err != nil || r.ModifiedCount != documents {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
	wg.Go(func() {
		for range rounds {
			for i := range documents {
				if err := c.FindOneAndUpdate(t.Context(), bson.D{{Key: "_id", Value: i}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "fast", Value: 1}}}}).Err(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	wg.Wait()
	n, err := c.CountDocuments(t.Context(), bson.D{{Key: "slow", Value: 2 * rounds}, {Key: "fast", Value: rounds}})
	if err != nil || n != documents {
		t.Errorf("%d documents have all changes, want %d; %v", n, documents, err)
	}
}

// A transaction that has written gives up the mutex too, for a statement that takes long after another one of the same command. What it
// wrote before is there once.
func TestALongStatementInATransactionDelaysNoOther(t *testing.T) {
	withLong(t, func(t *testing.T, rs *mongotest.Deployment, client *mongo.Client) {
		session, err := client.StartSession()
		if err != nil {
			t.Fatal(err)
		}
		defer session.EndSession(context.Background())
		if err := session.StartTransaction(); err != nil {
			t.Fatal(err)
		}
		ctx, db := mongo.NewSessionContext(t.Context(), session), client.Database("db")
		update := longCommand(t, `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$inc": {"x": 1}}}, {"q": {"_id": 3}, "u": {"$inc": {"x": 1}}, "upsert": true},
			{"q": {"_id": 1}, "u": [{"$set": {"x": LONG}}]}]}`)
		ended := make(chan error, 1)
		go func() { ended <- db.RunCommand(ctx, update).Err() }()
		id := awaitListed(t, rs, client, "update")
		if _, err := db.Collection("others").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
			t.Error(err)
		}
		if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: id}}).Err(); err != nil {
			t.Error(err)
		}
		var e mongo.CommandError
		if err := <-ended; !errors.As(err, &e) || e.Code != 11601 {
			t.Errorf("the killed command returns %v", err)
		}
	})
}

// A statement of a transaction that pauses is undone and done again: each document is changed once, and nothing else is locked.
func TestTransactionsThatPauseAreExact(t *testing.T) {
	const documents = 40
	rs := mongotest.RunReplicaSetT(t, 1)
	client := connect(t, rs)
	c := client.Database("db").Collection("c")
	for i := range documents {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}, {Key: "n", Value: 100}, {Key: "slow", Value: 0}}); err != nil {
			t.Fatal(err)
		}
	}
	session, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(context.Background())
	slow := bson.A{document(t, strings.ReplaceAll(`{"$set": {"slow": {"$add": ["$slow", 1, {"$multiply": [0, LONG]}]}}}`, "LONG", long))}
	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		for range 2 {
			if r, err := c.UpdateMany(ctx, bson.D{}, slow); err != nil || r.ModifiedCount != documents {
				return nil, errors.Join(err, errors.New("the update did not change all documents"))
			}
		}
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: documents}, {Key: "slow", Value: 2}})
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.CountDocuments(t.Context(), bson.D{{Key: "slow", Value: 2}}); err != nil || n != documents+1 {
		t.Errorf("%d documents have all changes, want %d; %v", n, documents+1, err)
	}
	if _, err := c.UpdateMany(t.Context(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "free", Value: true}}}}); err != nil {
		t.Errorf("after the transaction: %v", err)
	}
}

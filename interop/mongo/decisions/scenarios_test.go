package decisions

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// world is one client with its own replica set.
type world struct {
	set    *mongotest.Deployment
	client *mongo.Client
	coll   *mongo.Collection
}

var byID = bson.D{{Key: "_id", Value: 1}}

func insertModel(id int) mongo.ClientBulkWrite {
	return mongo.ClientBulkWrite{Database: "db", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: id}})}
}

// operations are the methods whose errors decide. There is a document with the _id 1.
var operations = []struct {
	name, command string
	write         bool
	do            func(ctx context.Context, w *world) error
}{
	{"InsertOne", "insert", true, func(ctx context.Context, w *world) error { _, err := w.coll.InsertOne(ctx, byID); return err }},
	{"InsertMany", "insert", true, func(ctx context.Context, w *world) error {
		_, err := w.coll.InsertMany(ctx, []bson.D{byID, {{Key: "_id", Value: 2}}})
		return err
	}},
	{"UpdateOne", "update", true, func(ctx context.Context, w *world) error {
		_, err := w.coll.UpdateOne(ctx, byID, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}})
		return err
	}},
	{"UpdateMany", "update", true, func(ctx context.Context, w *world) error {
		_, err := w.coll.UpdateMany(ctx, byID, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}})
		return err
	}},
	{"DeleteOne", "delete", true, func(ctx context.Context, w *world) error { _, err := w.coll.DeleteOne(ctx, byID); return err }},
	{"BulkWrite", "insert", true, func(ctx context.Context, w *world) error {
		_, err := w.coll.BulkWrite(ctx, []mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(byID)})
		return err
	}},
	{"BulkWrite, unordered", "insert", true, func(ctx context.Context, w *world) error {
		_, err := w.coll.BulkWrite(ctx, []mongo.WriteModel{
			mongo.NewDeleteOneModel().SetFilter(bson.D{{Key: "_id", Value: 9}}), mongo.NewInsertOneModel().SetDocument(byID),
		}, options.BulkWrite().SetOrdered(false))
		return err
	}},
	{"Client.BulkWrite", "bulkWrite", true, func(ctx context.Context, w *world) error {
		_, err := w.client.BulkWrite(ctx, []mongo.ClientBulkWrite{insertModel(3), insertModel(1)})
		return err
	}},
	{"FindOneAndUpdate", "findAndModify", true, func(ctx context.Context, w *world) error {
		return w.coll.FindOneAndUpdate(ctx, byID, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}).Err()
	}},
	{"Find", "find", false, func(ctx context.Context, w *world) error { _, err := w.coll.Find(ctx, byID); return err }},
	{"FindOne", "find", false, func(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, byID).Err() }},
	{"Aggregate", "aggregate", false, func(ctx context.Context, w *world) error {
		_, err := w.coll.Aggregate(ctx, mongo.Pipeline{})
		return err
	}},
	{"CountDocuments", "aggregate", false, func(ctx context.Context, w *world) error { _, err := w.coll.CountDocuments(ctx, byID); return err }},
	{"Distinct", "distinct", false, func(ctx context.Context, w *world) error { return w.coll.Distinct(ctx, "n", byID).Err() }},
	{"ListCollections", "listCollections", false, func(ctx context.Context, w *world) error {
		_, err := w.coll.Database().ListCollections(ctx, bson.D{})
		return err
	}},
	{"ListDatabases", "listDatabases", false, func(ctx context.Context, w *world) error { _, err := w.client.ListDatabases(ctx, bson.D{}); return err }},
	{"RunCommand", "count", false, func(ctx context.Context, w *world) error {
		return w.coll.Database().RunCommand(ctx, bson.D{{Key: "count", Value: "c"}}).Err()
	}},
	{"CreateOne", "createIndexes", false, func(ctx context.Context, w *world) error {
		_, err := w.coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}})
		return err
	}},
	{"Drop", "drop", false, func(ctx context.Context, w *world) error { return w.coll.Drop(ctx) }},
	{"Watch", "aggregate", false, func(ctx context.Context, w *world) error { _, err := w.coll.Watch(ctx, mongo.Pipeline{}); return err }},
	{"Next of a cursor", "getMore", false, func(ctx context.Context, w *world) error {
		cursor, err := w.coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(1))
		if err != nil {
			return err
		}
		defer func() { _ = cursor.Close(context.Background()) }()
		for cursor.Next(ctx) {
		}
		return cursor.Err()
	}},
	{"in a transaction", "insert", true, func(ctx context.Context, w *world) error {
		return inTransaction(ctx, w, func(*mongo.Session) error { return nil })
	}},
	{"CommitTransaction", "commitTransaction", true, func(ctx context.Context, w *world) error {
		return inTransaction(ctx, w, func(session *mongo.Session) error { return session.CommitTransaction(ctx) })
	}},
}

// inTransaction inserts a document in a transaction, and then calls end.
func inTransaction(ctx context.Context, w *world, end func(*mongo.Session) error) error {
	session, err := w.client.StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(context.Background())
	if err := session.StartTransaction(); err != nil {
		return err
	}
	if _, err := w.coll.InsertOne(mongo.NewSessionContext(ctx, session), bson.D{{Key: "_id", Value: 7}}); err != nil {
		return err
	}
	return end(session)
}

func refuse(code int32, labels ...string) mongotest.Fault {
	return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted", Labels: labels}}
}

var (
	overloaded  = refuse(462, "SystemOverloadedError", "RetryableError")
	stepsDown   = refuse(10107, "RetryableWriteError")
	loseRequest = mongotest.Fault{LoseRequest: true}
	loseReply   = mongotest.Fault{LoseReply: true}
)

// script are the faults of an operation's attempts; later ones have none. Of an operation without an error of its own the last attempt
// succeeds, and there is nothing to decide.
type script struct {
	name   string
	faults []mongotest.Fault
	uri    string
}

var scripts = []script{
	{"one attempt, no fault", nil, ""},
	{"one attempt, refused", []mongotest.Fault{refuse(13)}, ""},
	{"one attempt, a time limit of the server", []mongotest.Fault{refuse(50)}, ""},
	{"one attempt, not primary, no retries", []mongotest.Fault{stepsDown}, "&retryWrites=false&retryReads=false"},
	{"one attempt, lost reply, no retries", []mongotest.Fault{loseReply}, "&retryWrites=false&retryReads=false"},
	{"two attempts, lost reply", []mongotest.Fault{loseReply}, ""},
	{"two attempts, lost request, then refused", []mongotest.Fault{loseRequest, refuse(13)}, ""},
	{"two attempts, lost twice", []mongotest.Fault{loseRequest, loseReply}, ""},
	{"two attempts, not primary, then lost", []mongotest.Fault{stepsDown, loseReply}, ""},
	{"two attempts, overloaded", []mongotest.Fault{overloaded}, ""},
	{"three attempts, overloaded twice", []mongotest.Fault{overloaded, overloaded}, ""},
	{"three attempts, overloaded twice, then refused", []mongotest.Fault{overloaded, overloaded, refuse(13)}, ""},
	{"three attempts, overloaded twice, then lost", []mongotest.Fault{overloaded, overloaded, loseReply, loseReply}, ""},
	{"three attempts, always overloaded", []mongotest.Fault{overloaded, overloaded, overloaded, overloaded}, ""},
}

// concern is a write concern error in the reply of the given attempts; the write is made.
var concerns = []struct {
	name   string
	before []mongotest.Fault
	code   int32
	labels []string // of the write concern error itself
}{
	{"one attempt, a write concern error", nil, 64, nil},
	{"one attempt, a write concern error with labels", nil, 64, []string{"A", "B"}},
	{"two attempts, then a write concern error", []mongotest.Fault{loseRequest}, 64, nil},
	{"three attempts, then a write concern error", []mongotest.Fault{overloaded, overloaded}, 64, nil},
}

// play runs one operation in a bubble of its own and returns its error.
func play(t *testing.T, uri string, prepare func(w *world), do func(ctx context.Context, w *world) error) (failure error) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Version("8.0"))
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI() + "&serverSelectionTimeoutMS=15000" + uri).SetDialer(set.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		w := &world{set: set, client: client, coll: client.Database("db").Collection("c")}
		if _, err := w.coll.InsertMany(t.Context(), []bson.D{byID, {{Key: "_id", Value: 5}}, {{Key: "_id", Value: 6}}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // the monitors stream
		if prepare != nil {
			prepare(w)
		}
		failure = do(t.Context(), w)
	})
	return failure
}

// follow makes the attempts of a command fail by a script.
func follow(w *world, command string, faults []mongotest.Fault) {
	var n atomic.Int32
	w.set.Use(command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		if i := int(n.Add(1)); i <= len(faults) {
			return faults[i-1]
		}
		return mongotest.Fault{}
	}))
}

// eachScenario calls f with the name and the error of every scenario.
func eachScenario(t *testing.T, f func(name string, err error)) {
	for _, o := range operations {
		for _, s := range scripts {
			f(o.name+", "+s.name, play(t, s.uri, func(w *world) { follow(w, o.command, s.faults) }, o.do))
		}
		for _, c := range concerns {
			if !o.write {
				break
			}
			f(o.name+", "+c.name, play(t, "", func(w *world) {
				follow(w, o.command, c.before)
				w.set.Use(o.command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					reply := next(r)
					if reply != nil && reply.Error == nil {
						trouble := bson.D{{Key: "code", Value: c.code}, {Key: "codeName", Value: "WriteConcernFailed"}, {Key: "errmsg", Value: "scripted"}}
						if c.labels != nil {
							trouble = append(trouble, bson.E{Key: "errorLabels", Value: c.labels})
						}
						reply.Body = withField(t, reply.Body, "writeConcernError", trouble)
					}
					return reply
				})
			}, o.do))
		}
		down := func(w *world) {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
			<-time.After(20 * time.Second) // the monitors see it
		}
		f(o.name+", no server", play(t, "", down, o.do))
		f(o.name+", no server, a deadline", play(t, "", down, func(ctx context.Context, w *world) error {
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			return o.do(ctx, w)
		}))
		f(o.name+", no server, cancelled", play(t, "", down, func(ctx context.Context, w *world) error {
			ctx, cancel := context.WithCancel(ctx)
			defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
			return o.do(ctx, w)
		}))
		f(o.name+", a context that has ended", play(t, "", nil, func(ctx context.Context, w *world) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return o.do(ctx, w)
		}))
		f(o.name+", a deadline that has passed", play(t, "", nil, func(ctx context.Context, w *world) error {
			ctx, cancel := context.WithTimeout(ctx, -1)
			defer cancel()
			return o.do(ctx, w)
		}))
		f(o.name+", disconnected", play(t, "", nil, func(ctx context.Context, w *world) error {
			if err := w.client.Disconnect(ctx); err != nil {
				t.Error(err)
			}
			return o.do(ctx, w)
		}))
		f(o.name+", the pool is full", play(t, "&maxPoolSize=1", func(w *world) { occupy(w) }, func(ctx context.Context, w *world) error {
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			return o.do(ctx, w)
		}))
	}
}

// occupy begins an operation that keeps the primary's only connection for a minute.
func occupy(w *world) {
	w.set.Use("ping", mongotest.Always(mongotest.Fault{Delay: time.Minute}))
	go func() { _ = w.client.Ping(context.Background(), nil) }()
	synctest.Wait()
}

func withField(t *testing.T, body bson.Raw, key string, value any) bson.Raw {
	var d bson.D
	if err := bson.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	raw, err := bson.Marshal(append(d, bson.E{Key: key, Value: value}))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

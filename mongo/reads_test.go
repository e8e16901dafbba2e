package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// fill inserts documents with the _ids 1 to n, whose x is the _id modulo 2.
func fill(t *testing.T, coll *mongo.Collection, n int) {
	t.Helper()
	var docs []any
	for i := range n {
		docs = append(docs, doc("_id", i+1, "x", (i+1)%2))
	}
	if _, err := coll.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

// ids returns the _ids of a cursor's documents.
func ids(t *testing.T, cursor *mongo.Cursor, err error) []int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		ID int `bson:"_id"`
	}
	if err := cursor.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	out := []int{}
	for _, d := range docs {
		out = append(out, d.ID)
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestAggregate(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx, db := t.Context(), coll.Database()
		fill(t, coll, 250)
		cursor, err := coll.Aggregate(ctx, mongo.Pipeline{doc("$match", doc("_id", doc("$lte", 3))), doc("$sort", doc("_id", -1))})
		equal(t, "a pipeline", ids(t, cursor, err), []int{3, 2, 1})
		cursor, err = coll.Aggregate(ctx, []bson.M{}, options.Aggregate().SetBatchSize(7))
		equal(t, "several batches", len(ids(t, cursor, err)), 250)
		cursor, err = coll.Aggregate(ctx, bson.A{doc("$match", doc("$expr", doc("$eq", bson.A{"$_id", "$$n"})))}, options.Aggregate().
			SetLet(doc("n", 9)).SetAllowDiskUse(true).SetHint("_id_").SetComment("c").SetCollation(&options.Collation{Locale: "simple"}))
		equal(t, "options", ids(t, cursor, err), []int{9})
		out := db.Collection(coll.Name() + "_out")
		defer func() { _ = out.Drop(context.WithoutCancel(ctx)) }()
		cursor, err = coll.Aggregate(ctx, bson.A{doc("$limit", 5), doc("$out", out.Name())}, options.Aggregate().SetBatchSize(0))
		equal(t, "$out", ids(t, cursor, err), []int{})
		n, err := out.CountDocuments(ctx, d{})
		equal(t, "documents after $out", []any{n, err}, []any{int64(5), nil})
		cursor, err = db.Aggregate(ctx, bson.A{doc("$documents", bson.A{doc("_id", 1), doc("_id", 2), doc("_id", 3)})},
			options.Aggregate().SetBatchSize(2))
		equal(t, "a pipeline on a database", ids(t, cursor, err), []int{1, 2, 3})
		_, err = coll.Aggregate(ctx, bson.A{doc("$nonsense", 1)})
		var refused mongo.CommandError
		if !errors.As(err, &refused) || refused.Code != 40324 {
			t.Errorf("a stage that there is not: %v", err)
		}
	})
}

func TestCounts(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		for _, c := range []struct {
			name   string
			filter any
			o      *options.CountOptionsBuilder
			want   int64
		}{
			{"all", d{}, nil, 10},
			{"a filter", doc("x", 1), options.Count(), 5},
			{"none", doc("x", 7), options.Count(), 0},
			{"skip and limit", d{}, options.Count().SetSkip(3).SetLimit(4), 4},
			{"hint, collation and comment", d{}, options.Count().SetHint(doc("_id", 1)).SetCollation(&options.Collation{Locale: "simple"}).SetComment("c"), 10},
		} {
			if c.name == "all" {
				fill(t, coll, 10)
			}
			n, err := coll.CountDocuments(ctx, c.filter, c.o)
			if err != nil || n != c.want {
				t.Errorf("%s: %d, %v", c.name, n, err)
			}
		}
		n, err := coll.EstimatedDocumentCount(ctx, options.EstimatedDocumentCount().SetComment("c"))
		equal(t, "estimated", []any{n, err}, []any{int64(10), nil})
		n, err = coll.Database().Collection("no_such_collection").EstimatedDocumentCount(ctx)
		equal(t, "no collection", []any{n, err}, []any{int64(0), nil})
	})
}

func TestDistinct(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		fill(t, coll, 6)
		var numbers []int
		if err := coll.Distinct(ctx, "x", d{}).Decode(&numbers); err != nil {
			t.Fatal(err)
		}
		slices.Sort(numbers)
		equal(t, "numbers", numbers, []int{0, 1})
		r := coll.Distinct(ctx, "_id", doc("x", 0), options.Distinct().SetComment("c").SetHint("_id_").
			SetCollation(&options.Collation{Locale: "simple"}))
		var all bson.A
		if err := r.Decode(&all); err != nil || len(all) != 3 || r.Err() != nil {
			t.Errorf("%v, %v", all, err)
		}
		raw, err := r.Raw()
		values, _ := raw.Values()
		equal(t, "raw", []any{len(values), err}, []any{3, nil})
		var texts []string
		var undecodable *bson.DecodeError
		if err := r.Decode(&texts); !errors.As(err, &undecodable) {
			t.Errorf("into strings: %v", err)
		}
		if err := r.Decode(nil); err == nil {
			t.Error("into nil: no error")
		}
		if err := coll.Distinct(ctx, "x", nil).Decode(&texts); !errors.Is(err, mongo.ErrNilDocument) {
			t.Errorf("a nil filter: %v", err)
		}
		if err := new(mongo.DistinctResult).Decode(&texts); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Errorf("no array: %v", err)
		}
	})
}

func TestFindOneAndReplaceAndDelete(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		fill(t, coll, 4)
		decode := func(r *mongo.SingleResult) (got struct{ ID, X, Y int }) {
			t.Helper()
			var v struct {
				ID int `bson:"_id"`
				X  int `bson:"x"`
				Y  int `bson:"y"`
			}
			if err := r.Decode(&v); err != nil {
				t.Error(err)
			}
			return struct{ ID, X, Y int }{v.ID, v.X, v.Y}
		}
		equal(t, "before", decode(coll.FindOneAndReplace(ctx, doc("_id", 1), doc("y", 5))).X, 1)
		equal(t, "after", decode(coll.FindOneAndReplace(ctx, doc("_id", 9), doc("y", 6), options.FindOneAndReplace().
			SetReturnDocument(options.After).SetUpsert(true).SetComment("c").SetBypassDocumentValidation(false).SetHint("_id_").
			SetSort(doc("_id", 1)).SetProjection(doc("x", 0)).SetCollation(&options.Collation{Locale: "simple"}))).Y, 6)
		equal(t, "deleted", decode(coll.FindOneAndDelete(ctx, doc("x", 0), options.FindOneAndDelete().SetSort(doc("_id", -1)).
			SetProjection(doc("x", 1)).SetComment("c").SetHint("_id_").SetCollation(&options.Collation{Locale: "simple"}))).ID, 4)
		left, err := coll.Find(ctx, d{}, options.Find().SetSort(doc("_id", 1)))
		equal(t, "left", ids(t, left, err), []int{1, 2, 3, 9})
		for name, r := range map[string]*mongo.SingleResult{
			"replace": coll.FindOneAndReplace(ctx, doc("_id", 77), d{}), "delete": coll.FindOneAndDelete(ctx, doc("_id", 77)),
		} {
			if err := r.Err(); err != mongo.ErrNoDocuments { //nolint:errorlint // never wrapped
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := coll.FindOneAndReplace(ctx, d{}, doc("$set", doc("a", 1))).Err(); err == nil || !strings.Contains(err.Error(), "replacement document cannot contain keys beginning with '$'") {
			t.Errorf("an update as the replacement: %v", err)
		}
	})
}

func TestTailableCursors(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		if err := coll.Database().CreateCollection(ctx, coll.Name(), options.CreateCollection().SetCapped(true).SetSizeInBytes(1<<16)); err != nil {
			t.Fatal(err)
		}
		fill(t, coll, 2)
		for _, c := range []struct {
			name string
			kind options.CursorType
		}{{"tailable", options.Tailable}, {"tailable and awaiting data", options.TailableAwait}} {
			cursor, err := coll.Find(ctx, d{}, options.Find().SetCursorType(c.kind).SetMaxAwaitTime(30*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; cursor.TryNext(ctx); i++ {
				equal(t, c.name, int(cursor.Current.Lookup("_id").AsInt64()), i+1)
			}
			if cursor.Err() != nil || cursor.ID() == 0 {
				t.Errorf("%s: the cursor ended: %v", c.name, cursor.Err())
			}
			n, err := coll.CountDocuments(ctx, d{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := coll.InsertOne(ctx, doc("_id", n+1)); err != nil {
				t.Fatal(err)
			}
			if !cursor.Next(ctx) || cursor.Current.Lookup("_id").AsInt64() != n+1 {
				t.Errorf("%s: no new document: %v", c.name, cursor.Err())
			}
			if err := cursor.Close(ctx); err != nil {
				t.Error(err)
			}
		}
	})
}

// A getMore of a cursor that awaits data may last as long as the deadline allows, but not longer than MaxAwaitTime.
func TestTheTimeLimitOfAGetMore(t *testing.T) {
	await := options.Find().SetCursorType(options.TailableAwait)
	for _, c := range []struct {
		name     string
		o        *options.FindOptionsBuilder
		deadline time.Duration
		want     int64 // 0 means no maxTimeMS
	}{
		{"without an option", await, 0, 0},
		{"without an option, with a deadline", await, time.Minute, 0},
		{"the option", options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(5 * time.Second), 0, 5000},
		{"the option, with a later deadline", options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(5 * time.Second), time.Minute, 5000},
		{"the option, with an earlier deadline", options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(5 * time.Minute), time.Minute, 60000},
		{"the option of a cursor that does not await data", options.Find().SetCursorType(options.Tailable).SetMaxAwaitTime(time.Second), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.must(w.client.Database("test").CreateCollection(w.ctx, "c", options.CreateCollection().SetCapped(true).SetSizeInBytes(1<<16)))
				w.insert(1)
				cursor, err := w.coll.Find(w.ctx, d{}, c.o)
				w.must(err)
				ctx := w.ctx
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				w.pass(0)
				for cursor.TryNext(ctx) {
				}
				sent := w.started("getMore")
				if len(sent) != 1 {
					t.Fatalf("%d requests, %v", len(sent), cursor.Err())
				}
				ms, _ := sent[0].Command.Lookup("maxTimeMS").AsInt64OK()
				if ms > c.want || ms < c.want-10 {
					t.Errorf("maxTimeMS is %d, want %d", ms, c.want)
				}
				w.must(cursor.Close(w.ctx))
			})
		})
	}
}

// Client-Side Operations Timeout, "Cursors": a find that awaits data has maxTimeMS, because the server does not apply it to the later
// batches of such a cursor. Another one has none: the server would.
func TestWhichFindHasATimeLimit(t *testing.T) {
	for kind, want := range map[options.CursorType]bool{options.NonTailable: false, options.Tailable: false, options.TailableAwait: true} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
				w.must(w.client.Database("test").CreateCollection(w.ctx, "c", options.CreateCollection().SetCapped(true).SetSizeInBytes(1<<16)))
				w.insert(1)
				cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetCursorType(kind))
				w.must(err)
				ms, has := w.started("find")[0].Command.Lookup("maxTimeMS").AsInt64OK()
				if has != want || has && (ms <= 0 || ms > 1000) {
					t.Errorf("maxTimeMS: %v, %d", has, ms)
				}
				w.must(cursor.Close(w.ctx))
			})
		})
	}
}

// CRUD specification, "Read preferences and server selection".
func TestWhereAnAggregationThatWritesRuns(t *testing.T) {
	for _, c := range []struct {
		version   string
		stage     string
		onPrimary bool
	}{{"4.4", "$out", true}, {"4.4", "$merge", true}, {"5.0", "$out", false}, {"8.0", "$merge", false}, {"4.4", "$match", false}} {
		t.Run(c.version+" "+c.stage, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.insert(1)
				w.must(w.set.WaitIdle(w.ctx))
				coll := w.coll.Clone(options.Collection().SetReadPreference(readpref.Secondary()).SetWriteConcern(writeconcern.Majority()))
				var argument any = "o"
				switch c.stage {
				case "$match":
					argument = d{}
				case "$merge":
					argument = doc("into", "o")
				}
				_, err := coll.Aggregate(w.ctx, bson.A{doc(c.stage, argument)})
				w.must(err)
				sent := w.started("aggregate")[0]
				primary := strings.HasPrefix(sent.ConnectionID, w.set.Addr(w.set.Primary()))
				_, noPreference := sent.Command.LookupErr("$readPreference")
				if primary != c.onPrimary || (noPreference != nil) != c.onPrimary {
					t.Errorf("it ran on the primary: %t, %v", primary, sent.Command)
				}
				_, noConcern := sent.Command.LookupErr("writeConcern")
				if (noConcern == nil) != (c.stage != "$match") {
					t.Errorf("the write concern is wrong: %v", sent.Command)
				}
				if _, err := sent.Command.LookupErr("txnNumber"); err == nil {
					t.Error("there is a transaction number")
				}
			}, mongotest.Version(c.version))
		})
	}
}

func TestBadPipelinesAndOptionsAreRefusedBeforeTheyAreSent(t *testing.T) {
	in(t, nil, func(w *world) {
		db := w.client.Database("test")
		aggregate := func(pipeline any, o ...options.Lister[options.AggregateOptions]) error {
			_, err := w.coll.Aggregate(w.ctx, pipeline, o...)
			return err
		}
		find := func(o *options.FindOptionsBuilder) error {
			_, err := w.coll.Find(w.ctx, d{}, o)
			return err
		}
		index := func(m mongo.IndexModel) error {
			_, err := w.coll.Indexes().CreateOne(w.ctx, m)
			return err
		}
		watch := func(pipeline any, o ...options.Lister[options.ChangeStreamOptions]) error {
			_, err := w.coll.Watch(w.ctx, pipeline, o...)
			return err
		}
		rawCursor := func(command any) error {
			_, err := db.RunCommandCursor(w.ctx, command)
			return err
		}
		search := func(m mongo.SearchIndexModel) error {
			_, err := w.coll.SearchIndexes().CreateOne(w.ctx, m)
			return err
		}
		_, nilCount := w.coll.CountDocuments(w.ctx, nil)
		_, nilDatabases := w.client.ListDatabaseNames(w.ctx, nil)
		_, nilCollections := db.ListCollections(w.ctx, nil)
		_, batchSize := db.ListCollections(w.ctx, d{}, options.ListCollections().SetBatchSize(-1))
		for _, c := range []struct {
			name, text string
			err        error
		}{
			{"a nil pipeline", "can only marshal slices and arrays into aggregation pipelines, but got invalid", aggregate(nil)},
			{"a document as the pipeline", "bson.D is not an allowed pipeline type as it represents a single document. Use bson.A or mongo.Pipeline instead", aggregate(doc("a", 1))},
			{"raw bytes as the pipeline", "bson.Raw is not an allowed pipeline type", aggregate(bson.Raw{5, 0, 0, 0, 0})},
			{"a text as the pipeline", "but got string", aggregate("x")},
			{"a nil stage", "document is nil", aggregate(bson.A{nil})},
			{"a stage that is no document", "cannot marshal type int to a BSON Document", aggregate(bson.A{1})},
			{"a hint with several keys in a map", "multi-key map passed in for ordered parameter hint", aggregate(bson.A{}, options.Aggregate().SetHint(bson.M{"a": 1, "b": 1}))},
			{"a negative batch size", "AggregateOptions.BatchSize is -1; it must not be negative", aggregate(bson.A{}, options.Aggregate().SetBatchSize(-1))},
			{"a negative await time", "AggregateOptions.MaxAwaitTime is -1s", aggregate(bson.A{}, options.Aggregate().SetMaxAwaitTime(-time.Second))},
			{"a cursor type that there is not", "FindOptions.CursorType is 7", find(options.Find().SetCursorType(7))},
			{"a negative await time of find", "FindOptions.MaxAwaitTime is -1s", find(options.Find().SetMaxAwaitTime(-time.Second))},
			{"a nil filter to count", "document is nil", nilCount},
			{"a nil filter to list databases", "document is nil", nilDatabases},
			{"a nil filter to list collections", "document is nil", nilCollections},
			{"a negative batch size of a list", "ListCollectionsOptions.BatchSize is -1", batchSize},
			{"an index without keys", "index model keys cannot be nil", index(mongo.IndexModel{})},
			{"keys of an index in a map", "multi-key map passed in for ordered parameter keys", index(mongo.IndexModel{Keys: bson.M{"a": 1, "b": 1}})},
			{"a key that has no name", mongo.ErrInvalidIndexValue.Error(), index(mongo.IndexModel{Keys: doc("a", 1.5)})},
			{"all indexes by DropOne", mongo.ErrMultipleIndexDrop.Error(), w.coll.Indexes().DropOne(w.ctx, "*")},
			{"all search indexes by DropOne", mongo.ErrMultipleIndexDrop.Error(), w.coll.SearchIndexes().DropOne(w.ctx, "*")},
			{"keys to drop in a map", "multi-key map passed in for ordered parameter keySpecDocument", w.coll.Indexes().DropWithKey(w.ctx, bson.M{"a": 1, "b": 1})},
			{"nil keys to drop", "document is nil", w.coll.Indexes().DropWithKey(w.ctx, nil)},
			{"a search index without a definition", "search index model definition cannot be nil", search(mongo.SearchIndexModel{})},
			{"an update of a search index without a definition", "search index definition cannot be nil", w.coll.SearchIndexes().UpdateOne(w.ctx, "n", nil)},
			{"a validator that is no document", "cannot marshal type string", db.CreateCollection(w.ctx, "k", options.CreateCollection().SetValidator("x"))},
			{"encrypted fields", "CreateCollectionOptions.EncryptedFields is not supported", db.CreateCollection(w.ctx, "k", options.CreateCollection().SetEncryptedFields(d{}))},
			{"a nil pipeline of a view", "can only marshal slices and arrays", db.CreateView(w.ctx, "v", "c", nil)},
			{"a document as the pipeline of a stream", "single document", watch(doc("a", 1))},
			{"a token that is no document", "cannot marshal type string", watch(bson.A{}, options.ChangeStream().SetResumeAfter("x"))},
			{"a negative batch size of a stream", "ChangeStreamOptions.BatchSize is -1", watch(bson.A{}, options.ChangeStream().SetBatchSize(-1))},
			{"a negative await time of a stream", "ChangeStreamOptions.MaxAwaitTime is -1s", watch(bson.A{}, options.ChangeStream().SetMaxAwaitTime(-time.Second))},
			{"a nil command", "document is nil", rawCursor(nil)},
			{"a command in a map", "multi-key map passed in for ordered parameter cmd", rawCursor(bson.M{"a": 1, "b": 1})},
		} {
			if c.err == nil || !strings.Contains(c.err.Error(), c.text) {
				t.Errorf("%s: %v", c.name, c.err)
			}
		}
		if n := len(w.started("")); n != 0 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

func TestCursorsAndResultsFromDocuments(t *testing.T) {
	ctx, boo := t.Context(), errors.New("boo")
	cursor, err := mongo.NewCursorFromDocuments([]any{doc("_id", 1), bson.M{"_id": 2}}, nil, nil)
	equal(t, "documents", ids(t, cursor, err), []int{1, 2})
	cursor, err = mongo.NewCursorFromDocuments(nil, nil, nil)
	equal(t, "none", ids(t, cursor, err), []int{})
	cursor, err = mongo.NewCursorFromDocuments([]any{d{}}, boo, nil)
	if err != nil || cursor.Next(ctx) || !errors.Is(cursor.Err(), boo) || cursor.Close(ctx) != nil {
		t.Errorf("an error: %v, %v", err, cursor.Err())
	}
	if _, err = mongo.NewCursorFromDocuments([]any{d{}, nil}, nil, nil); !errors.Is(err, mongo.ErrNilDocument) || !strings.Contains(err.Error(), "index 1") {
		t.Errorf("a nil document: %v", err)
	}
	raw, err := mongo.NewSingleResultFromDocument(doc("a", 1), nil, nil).Raw()
	equal(t, "a result", []any{raw.String(), err}, []any{bsonText(t, doc("a", 1)), nil})
	if err := mongo.NewSingleResultFromDocument(doc("a", 1), boo, nil).Err(); err != boo { //nolint:errorlint // the same value
		t.Errorf("a result's error: %v", err)
	}
	if err := mongo.NewSingleResultFromDocument(nil, nil, nil).Err(); !errors.Is(err, mongo.ErrNilDocument) {
		t.Errorf("a nil document: %v", err)
	}
}

func TestACloneHasTheOptionsOfItsCollectionAndItsOwn(t *testing.T) {
	in(t, nil, func(w *world) {
		w.insert(1)
		w.must(w.set.WaitIdle(w.ctx))
		first := w.coll.Clone(options.Collection().SetReadPreference(readpref.SecondaryPreferred()))
		second := first.Clone(options.Collection().SetWriteConcern(writeconcern.Majority()))
		w.must(second.FindOne(w.ctx, d{}).Err())
		_, err := second.InsertOne(w.ctx, d{})
		w.must(err)
		find, insert := w.started("find")[0].Command, w.started("insert")
		if find.Lookup("$readPreference", "mode").StringValue() != "secondaryPreferred" ||
			insert[len(insert)-1].Command.Lookup("writeConcern", "w").StringValue() != "majority" || second.Name() != "c" {
			t.Errorf("the commands are %v and %v", find, insert)
		}
	})
}

func TestTheErrorOfAnAggregationsWriteConcernHasTheOfficialType(t *testing.T) {
	in(t, nil, func(w *world) {
		w.set.Use("aggregate", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 1, "cursor", doc("id", int64(0), "ns", "test.c", "firstBatch", bson.A{}),
				"writeConcernError", doc("code", 64, "errmsg", "waiting for replication timed out")))
		})
		cursor, err := w.coll.Aggregate(w.ctx, bson.A{doc("$out", "o")})
		if e, is := err.(mongo.WriteConcernError); !is || e.Code != 64 || cursor != nil { //nolint:errorlint // the concrete type is documented
			t.Errorf("error: %T %v", err, err)
		}
	})
}

func TestAMaxAwaitTimeIsLessThanTheTimeoutOfTheClient(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
		for _, kind := range []options.CursorType{options.NonTailable, options.Tailable, options.TailableAwait} {
			_, err := w.coll.Find(w.ctx, d{}, options.Find().SetCursorType(kind).SetMaxAwaitTime(time.Second))
			refused := err != nil && strings.Contains(err.Error(), "must be less than the client's timeout of 1s")
			if refused != (kind == options.TailableAwait) {
				t.Errorf("cursor type %d: %v", kind, err)
			}
		}
	})
}

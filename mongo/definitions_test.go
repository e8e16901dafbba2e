package mongo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// inDatabase runs f with a database of its own on each server of servers.
func inDatabase(t *testing.T, f func(t *testing.T, db *mongo.Database)) {
	t.Helper()
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		db := coll.Database().Client().Database("holdfast_test_" + coll.Name())
		t.Cleanup(func() {
			if err := db.Drop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		f(t, db)
	})
}

func TestListsOfDatabases(t *testing.T) {
	inDatabase(t, func(t *testing.T, db *mongo.Database) {
		ctx, client := t.Context(), db.Client()
		if err := db.CreateCollection(ctx, "c"); err != nil {
			t.Fatal(err)
		}
		names, err := client.ListDatabaseNames(ctx, doc("name", db.Name()))
		equal(t, "names", names, []string{db.Name()})
		found, err2 := client.ListDatabases(ctx, doc("name", db.Name()), options.ListDatabases().SetAuthorizedDatabases(true))
		if err != nil || err2 != nil || len(found.Databases) != 1 || found.Databases[0].Name != db.Name() || found.TotalSize != found.Databases[0].SizeOnDisk {
			t.Errorf("%+v, %v, %v", found, err, err2)
		}
		none, err := client.ListDatabaseNames(ctx, doc("name", "no such database"))
		if err != nil || none == nil || len(none) != 0 {
			t.Errorf("none: %#v, %v", none, err)
		}
		if err := db.Drop(ctx); err != nil {
			t.Fatal(err)
		}
		names, err = client.ListDatabaseNames(ctx, doc("name", db.Name()))
		equal(t, "after Drop", []any{names, err}, []any{[]string{}, nil})
	})
}

func TestCollectionsAndViews(t *testing.T) {
	inDatabase(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		create := func(name string, o *options.CreateCollectionOptionsBuilder) {
			t.Helper()
			if err := db.CreateCollection(ctx, name, o); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		create("plain", nil)
		create("capped", options.CreateCollection().SetCapped(true).SetSizeInBytes(8192).SetMaxDocuments(3))
		create("checked", options.CreateCollection().SetValidator(doc("a", doc("$type", "int"))).SetValidationLevel("moderate").SetValidationAction("error"))
		create("series", options.CreateCollection().SetTimeSeriesOptions(options.TimeSeries().SetTimeField("t").SetMetaField("m").SetGranularity("hours")).SetExpireAfterSeconds(3600))
		create("clustered", options.CreateCollection().SetClusteredIndex(doc("key", doc("_id", 1), "unique", true, "name", "cl")))
		if err := db.CreateView(ctx, "view", "plain", mongo.Pipeline{doc("$match", doc("x", 1))}); err != nil {
			t.Error(err)
		}
		names, err := db.ListCollectionNames(ctx, doc("name", doc("$not", doc("$regex", "^system"))), options.ListCollections().SetBatchSize(2).SetAuthorizedCollections(true))
		slices.Sort(names)
		equal(t, "names", []any{names, err}, []any{[]string{"capped", "checked", "clustered", "plain", "series", "view"}, nil})
		found, err := db.ListCollectionSpecifications(ctx, d{})
		if err != nil {
			t.Fatal(err)
		}
		for name, check := range map[string]func(s mongo.CollectionSpecification) bool{
			"plain": func(s mongo.CollectionSpecification) bool {
				return s.Type == "collection" && s.UUID != nil && s.IDIndex.Name == "_id_" && s.IDIndex.Namespace == db.Name()+".plain"
			},
			"capped": func(s mongo.CollectionSpecification) bool {
				return s.Options.Lookup("capped").Boolean() && s.Options.Lookup("size").AsInt64() == 8192 && s.Options.Lookup("max").AsInt64() == 3
			},
			"checked": func(s mongo.CollectionSpecification) bool {
				return s.Options.Lookup("validationLevel").StringValue() == "moderate" && s.Options.Lookup("validator", "a", "$type").StringValue() == "int"
			},
			"series": func(s mongo.CollectionSpecification) bool {
				return s.Type == "timeseries" && s.Options.Lookup("timeseries", "metaField").StringValue() == "m" && s.Options.Lookup("expireAfterSeconds").AsInt64() == 3600
			},
			"clustered": func(s mongo.CollectionSpecification) bool {
				return s.Options.Lookup("clusteredIndex", "name").StringValue() == "cl"
			},
			"view": func(s mongo.CollectionSpecification) bool {
				return s.Type == "view" && s.ReadOnly && s.Options.Lookup("viewOn").StringValue() == "plain"
			},
		} {
			i := slices.IndexFunc(found, func(s mongo.CollectionSpecification) bool { return s.Name == name })
			if i < 0 || !check(found[i]) {
				t.Errorf("%s: %+v", name, found)
			}
		}
		if _, err := db.Collection("checked").InsertOne(ctx, doc("a", "text")); !hasCode(err, 121) {
			t.Errorf("the validator: %v", err)
		}
		fill(t, db.Collection("plain"), 5)
		cursor, err := db.Collection("view").Find(ctx, d{}, options.Find().SetSort(doc("_id", 1)))
		equal(t, "the view", ids(t, cursor, err), []int{1, 3, 5})
		if err := db.CreateCollection(ctx, "plain", options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)); !hasCode(err, 48) {
			t.Errorf("a collection that is there: %v", err)
		}
		listed, err := db.ListCollections(ctx, doc("name", "plain"), options.ListCollections().SetNameOnly(true))
		if err != nil || !listed.Next(ctx) || listed.Current.Lookup("name").StringValue() != "plain" || listed.Next(ctx) {
			t.Errorf("a cursor of collections: %v", err)
		}
	})
}

func hasCode(err error, code int) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && e.HasErrorCode(code)
}

func TestIndexes(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx, indexes := t.Context(), coll.Indexes()
		found, err := indexes.ListSpecifications(ctx)
		if err != nil || found == nil || len(found) != 0 {
			t.Errorf("no collection: %#v, %v", found, err)
		}
		name, err := indexes.CreateOne(ctx, mongo.IndexModel{Keys: doc("a", 1, "b", -1, "c", "hashed")})
		equal(t, "a generated name", []any{name, err}, []any{"a_1_b_-1_c_hashed", nil})
		names, err := indexes.CreateMany(ctx, []mongo.IndexModel{
			{Keys: doc("d", int64(1)), Options: options.Index().SetUnique(true).SetSparse(true)},
			{Keys: bson.M{"e": 1}, Options: options.Index().SetName("five").SetExpireAfterSeconds(60)},
			{Keys: doc("f", 1), Options: options.Index().SetPartialFilterExpression(doc("f", doc("$gt", 5))).SetHidden(true).
				SetCollation(&options.Collation{Locale: "en", Strength: 2})},
		})
		equal(t, "names", []any{names, err}, []any{[]string{"d_1", "five", "f_1"}, nil})
		found, err = indexes.ListSpecifications(ctx, options.ListIndexes().SetBatchSize(2))
		if err != nil || len(found) != 5 {
			t.Fatalf("%+v, %v", found, err)
		}
		d1, five := found[2], found[3]
		if d1.Name != "d_1" || !*d1.Unique || !*d1.Sparse || d1.Namespace != coll.Database().Name()+"."+coll.Name() || d1.Version != 2 {
			t.Errorf("%+v", d1)
		}
		if five.Name != "five" || *five.ExpireAfterSeconds != 60 || five.KeysDocument.Lookup("e").AsInt64() != 1 || five.Unique != nil {
			t.Errorf("%+v", five)
		}
		cursor, err := indexes.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var all []bson.D
		if err := cursor.All(ctx, &all); err != nil || len(all) != 5 {
			t.Errorf("%v, %v", all, err)
		}
		if err := indexes.DropOne(ctx, "five"); err != nil {
			t.Error(err)
		}
		if err := indexes.DropOne(ctx, "five"); err != nil && !hasCode(err, 27) { // since 9.0 it is no error
			t.Errorf("an index that there is not: %v", err)
		}
		if err := indexes.DropWithKey(ctx, doc("d", 1)); err != nil {
			t.Error(err)
		}
		if err := indexes.DropAll(ctx); err != nil {
			t.Error(err)
		}
		found, err = indexes.ListSpecifications(ctx)
		if err != nil || len(found) != 1 || found[0].Name != "_id_" {
			t.Errorf("%+v, %v", found, err)
		}
		if _, err := indexes.CreateMany(ctx, nil); !hasCode(err, 2) {
			t.Errorf("no index: %v", err)
		}
	})
}

func TestRunCommandCursor(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx, db := t.Context(), coll.Database()
		fill(t, coll, 9)
		cursor, err := db.RunCommandCursor(ctx, doc("find", coll.Name(), "filter", doc("x", 1), "batchSize", 2, "sort", doc("_id", 1)))
		if err == nil {
			cursor.SetBatchSize(1)
			cursor.SetComment("c")
		}
		equal(t, "find", ids(t, cursor, err), []int{1, 3, 5, 7, 9})
		if _, err := db.RunCommandCursor(ctx, doc("ping", 1)); err == nil || !strings.Contains(err.Error(), "does not contain a cursor") {
			t.Errorf("no cursor: %v", err)
		}
		if _, err := db.RunCommandCursor(ctx, doc("find", "")); !hasCode(err, 73) {
			t.Errorf("a command that fails: %v", err)
		}
	})
}

// Every option of the commands that define something, as it is sent.
func TestTheOptionsOfDefinitionsAreSent(t *testing.T) {
	simple := &options.Collation{Locale: "simple"}
	for _, c := range []struct {
		name, command string
		do            func(ctx context.Context, db *mongo.Database) error
		want          d
	}{
		{"a collection", "create", func(ctx context.Context, db *mongo.Database) error {
			return db.CreateCollection(ctx, "k", options.CreateCollection().SetCapped(true).SetCollation(simple).SetChangeStreamPreAndPostImages(doc("enabled", true)).
				SetDefaultIndexOptions(options.DefaultIndex().SetStorageEngine(doc("s", d{}))).SetMaxDocuments(3).SetSizeInBytes(4096).SetStorageEngine(doc("s", d{})).
				SetValidationAction("warn").SetValidationLevel("off").SetValidator(doc("a", 1)).SetExpireAfterSeconds(9).SetClusteredIndex(doc("key", doc("_id", 1))))
		}, doc("create", "k", "capped", true, "changeStreamPreAndPostImages", doc("enabled", true), "collation", doc("locale", "simple"),
			"indexOptionDefaults", doc("storageEngine", doc("s", d{})), "max", int64(3), "size", int64(4096), "storageEngine", doc("s", d{}),
			"validationAction", "warn", "validationLevel", "off", "validator", doc("a", 1), "expireAfterSeconds", int64(9),
			"clusteredIndex", doc("key", doc("_id", 1)))},
		{"a time series", "create", func(ctx context.Context, db *mongo.Database) error {
			return db.CreateCollection(ctx, "k", options.CreateCollection().SetTimeSeriesOptions(options.TimeSeries().SetTimeField("t").SetMetaField("m").
				SetGranularity("hours").SetBucketMaxSpan(90*time.Second).SetBucketRounding(90500*time.Millisecond)))
		}, doc("create", "k", "timeseries", doc("timeField", "t", "metaField", "m", "granularity", "hours", "bucketMaxSpanSeconds", int64(90),
			"bucketRoundingSeconds", int64(90)))},
		{"a view", "create", func(ctx context.Context, db *mongo.Database) error {
			return db.CreateView(ctx, "v", "c", bson.A{doc("$match", d{})}, options.CreateView().SetCollation(simple))
		}, doc("create", "v", "viewOn", "c", "pipeline", bson.A{doc("$match", d{})}, "collation", doc("locale", "simple"))},
		{"an index", "createIndexes", func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("c").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("a", 1), Options: options.Index().SetExpireAfterSeconds(1).SetName("n").
				SetSparse(true).SetStorageEngine(doc("s", d{})).SetUnique(true).SetVersion(2).SetDefaultLanguage("french").SetLanguageOverride("l").SetTextVersion(3).
				SetWeights(doc("a", 4)).SetSphereVersion(5).SetBits(6).SetMax(7).SetMin(-8).SetBucketSize(9).SetPartialFilterExpression(doc("a", 1)).
				SetCollation(simple).SetWildcardProjection(doc("b", 1)).SetHidden(false)}, options.CreateIndexes().SetCommitQuorumMajority())
			return err
		}, doc("createIndexes", "c", "indexes", bson.A{doc("key", doc("a", 1), "expireAfterSeconds", 1, "name", "n", "sparse", true, "storageEngine", doc("s", d{}),
			"unique", true, "v", 2, "default_language", "french", "language_override", "l", "textIndexVersion", 3, "weights", doc("a", 4),
			"2dsphereIndexVersion", 5, "bits", 6, "max", 7.0, "min", -8.0, "bucketSize", 9, "partialFilterExpression", doc("a", 1),
			"collation", doc("locale", "simple"), "wildcardProjection", doc("b", 1), "hidden", false)}, "commitQuorum", "majority")},
		{"search indexes", "createSearchIndexes", func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("c").SearchIndexes().CreateMany(ctx, []mongo.SearchIndexModel{
				{Definition: doc("a", 1), Options: options.SearchIndexes().SetName("n").SetType("t")}, {Definition: doc("b", 1)},
			})
			return err
		}, doc("createSearchIndexes", "c", "indexes", bson.A{doc("name", "n", "type", "t", "definition", doc("a", 1)), doc("definition", doc("b", 1))})},
		{"an update of a search index", "updateSearchIndex", func(ctx context.Context, db *mongo.Database) error {
			return db.Collection("c").SearchIndexes().UpdateOne(ctx, "n", doc("a", 1))
		}, doc("updateSearchIndex", "c", "name", "n", "definition", doc("a", 1))},
		{"a list of search indexes", "aggregate", func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("c").SearchIndexes().List(ctx, options.SearchIndexes().SetName("n"))
			return err
		}, doc("aggregate", "c", "pipeline", bson.A{doc("$listSearchIndexes", doc("name", "n"))}, "cursor", d{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.set.Use(c.command, func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
					return mongotest.NewReply(doc("ok", 1, "cursor", doc("id", int64(0), "ns", "test.c", "firstBatch", bson.A{})))
				})
				w.must(c.do(w.ctx, w.client.Database("test")))
				sent := w.started(c.command)[0].Command
				got := d{}
				for i := range len(c.want) {
					element, err := sent.IndexErr(uint(i))
					w.must(err)
					got = append(got, e{Key: element.Key(), Value: element.Value()})
				}
				if bsonText(t, got) != bsonText(t, c.want) {
					t.Errorf("sent %s, want %s", bsonText(t, got), bsonText(t, c.want))
				}
			})
		})
	}
}

func TestSearchIndexes(t *testing.T) {
	in(t, nil, func(w *world) {
		ctx, indexes := w.ctx, w.coll.Clone(options.Collection().SetWriteConcern(writeconcern.Majority())).SearchIndexes()
		if _, err := indexes.CreateOne(ctx, mongo.SearchIndexModel{Definition: d{}}); !hasCode(err, 31082) {
			t.Errorf("a server without search: %v", err)
		}
		if _, err := w.started("createSearchIndexes")[0].Command.LookupErr("writeConcern"); err == nil {
			t.Error("the command has a write concern")
		}
		w.set.Use("createSearchIndexes", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 1, "indexesCreated", bson.A{doc("id", "1", "name", "a"), doc("id", "2", "name", "b")}))
		})
		names, err := indexes.CreateMany(ctx, []mongo.SearchIndexModel{{Definition: d{}}, {Definition: d{}}})
		equal(t, "names", []any{names, err}, []any{[]string{"a", "b"}, nil})
		for code, ignored := range map[int32]bool{26: true, 27: false} {
			w.script("dropSearchIndex", refuse(code))
			if err := indexes.DropOne(ctx, "a"); (err == nil) != ignored {
				t.Errorf("code %d: %v", code, err)
			}
		}
		w.heal()
	})
}

func TestACommitQuorumNeedsAServerThatKnowsIt(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.coll.Indexes().CreateOne(w.ctx, mongo.IndexModel{Keys: doc("a", 1)}, options.CreateIndexes().SetCommitQuorumInt(1))
		if err == nil || !strings.Contains(err.Error(), "CommitQuorum needs a server of wire version 9, this one has 8") {
			t.Errorf("error: %v", err)
		}
	}, mongotest.Version("4.2"))
}

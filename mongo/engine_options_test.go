package mongo_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongo"
)

// set returns options whose one field has a value.
type set[T any] struct {
	field string
	value any
}

func (s set[T]) List() []func(*T) error {
	if s.field == "" {
		return nil
	}
	return []func(*T) error{func(o *T) error {
		f := reflect.ValueOf(o).Elem().FieldByName(s.field)
		v := reflect.ValueOf(s.value)
		if f.Kind() == reflect.Pointer && v.Type() != f.Type() {
			p := reflect.New(f.Type().Elem())
			p.Elem().Set(v.Convert(f.Type().Elem()))
			v = p
		}
		f.Set(v)
		return nil
	}}
}

// given is what a call is made with.
type given struct {
	field         string // the option, "" for none
	value         any
	filter        any
	update        any
	pipeline      any
	otherDocument any
	also          options.Lister[options.CreateCollectionOptions] // options that the option needs
}

func (g given) orFilter() any {
	if g.filter != nil {
		return g.filter
	}
	return doc("s", "a")
}

// shown returns the text of a result or of its error.
func shown(coll *mongo.Collection, v any, err error) string {
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), coll.Name(), "COLL")
	}
	b, err := bson.MarshalExtJSON(doc("r", v), false, false)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(b), `{"r":`), "}")
}

func allOf(ctx context.Context, coll *mongo.Collection, cursor *mongo.Cursor, err error) string {
	docs := []bson.D{}
	if err == nil {
		err = cursor.All(ctx, &docs)
	}
	return shown(coll, docs, err)
}

func oneOf(coll *mongo.Collection, r *mongo.SingleResult) string {
	var found bson.D
	err := r.Decode(&found)
	return shown(coll, found, err)
}

// state is the whole collection, which shows the effect of a write.
func state(ctx context.Context, coll *mongo.Collection, err error) string {
	if err != nil {
		return shown(coll, nil, err)
	}
	cursor, err := coll.Find(ctx, d{}, options.Find().SetSort(doc("_id", 1)))
	return allOf(ctx, coll, cursor, err)
}

// optionMethod is a method and how its result is shown.
type optionMethod struct {
	command string
	call    func(ctx context.Context, coll *mongo.Collection, g given) string
}

func chosen[T any](g given) set[T] { return set[T]{g.field, g.value} }

func orDocument(v, otherwise any) any {
	if v != nil {
		return v
	}
	return otherwise
}

var optionMethods = map[string]optionMethod{
	"Collection.Find": {"find", func(ctx context.Context, coll *mongo.Collection, g given) string {
		cursor, err := coll.Find(ctx, g.orFilter(), chosen[options.FindOptions](g))
		return allOf(ctx, coll, cursor, err)
	}},
	"Collection.FindOne": {"find", func(ctx context.Context, coll *mongo.Collection, g given) string {
		return oneOf(coll, coll.FindOne(ctx, g.orFilter(), chosen[options.FindOneOptions](g)))
	}},
	"Collection.Aggregate": {"aggregate", func(ctx context.Context, coll *mongo.Collection, g given) string {
		cursor, err := coll.Aggregate(ctx, orDocument(g.pipeline, bson.A{doc("$match", doc("s", "a"))}), chosen[options.AggregateOptions](g))
		return allOf(ctx, coll, cursor, err)
	}},
	"Database.Aggregate": {"aggregate", func(ctx context.Context, coll *mongo.Collection, g given) string {
		p := bson.A{doc("$documents", bson.A{doc("s", "a"), doc("s", "A")}), doc("$match", doc("s", "a"))}
		cursor, err := coll.Database().Aggregate(ctx, orDocument(g.pipeline, p), chosen[options.AggregateOptions](g))
		return allOf(ctx, coll, cursor, err)
	}},
	"Collection.CountDocuments": {"aggregate", func(ctx context.Context, coll *mongo.Collection, g given) string {
		n, err := coll.CountDocuments(ctx, g.orFilter(), chosen[options.CountOptions](g))
		return shown(coll, n, err)
	}},
	"Collection.EstimatedDocumentCount": {"count", func(ctx context.Context, coll *mongo.Collection, g given) string {
		n, err := coll.EstimatedDocumentCount(ctx, chosen[options.EstimatedDocumentCountOptions](g))
		return shown(coll, n, err)
	}},
	"Collection.Distinct": {"distinct", func(ctx context.Context, coll *mongo.Collection, g given) string {
		var values []any
		err := coll.Distinct(ctx, "_id", g.orFilter(), chosen[options.DistinctOptions](g)).Decode(&values)
		return shown(coll, values, err)
	}},
	"Collection.InsertOne": {"insert", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.InsertOne(ctx, doc("_id", 9, "x", "invalid"), chosen[options.InsertOneOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.InsertMany": {"insert", func(ctx context.Context, coll *mongo.Collection, g given) string {
		docs := orDocument(g.otherDocument, []d{doc("_id", 9, "x", "invalid")})
		_, err := coll.InsertMany(ctx, docs, chosen[options.InsertManyOptions](g))
		if err != nil && g.otherDocument != nil {
			return state(ctx, coll, nil) // the documents before and after a duplicate
		}
		return state(ctx, coll, err)
	}},
	"Collection.UpdateOne": {"update", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.UpdateOne(ctx, g.orFilter(), orDocument(g.update, doc("$set", doc("n", 1))), chosen[options.UpdateOneOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.UpdateByID": {"update", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.UpdateByID(ctx, orDocument(g.filter, "A"), orDocument(g.update, doc("$set", doc("n", 1))), chosen[options.UpdateOneOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.UpdateMany": {"update", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.UpdateMany(ctx, g.orFilter(), orDocument(g.update, doc("$set", doc("n", 1))), chosen[options.UpdateManyOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.ReplaceOne": {"update", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.ReplaceOne(ctx, g.orFilter(), orDocument(g.update, doc("x", 7)), chosen[options.ReplaceOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.DeleteOne": {"delete", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.DeleteOne(ctx, orDocument(g.filter, doc("s", "b")), chosen[options.DeleteOneOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.DeleteMany": {"delete", func(ctx context.Context, coll *mongo.Collection, g given) string {
		_, err := coll.DeleteMany(ctx, g.orFilter(), chosen[options.DeleteManyOptions](g))
		return state(ctx, coll, err)
	}},
	"Collection.FindOneAndUpdate": {"findAndModify", func(ctx context.Context, coll *mongo.Collection, g given) string {
		r := coll.FindOneAndUpdate(ctx, g.orFilter(), orDocument(g.update, doc("$set", doc("n", 1))), chosen[options.FindOneAndUpdateOptions](g))
		return oneOf(coll, r) + state(ctx, coll, nil)
	}},
	"Collection.FindOneAndReplace": {"findAndModify", func(ctx context.Context, coll *mongo.Collection, g given) string {
		r := coll.FindOneAndReplace(ctx, g.orFilter(), orDocument(g.update, doc("x", 7)), chosen[options.FindOneAndReplaceOptions](g))
		return oneOf(coll, r) + state(ctx, coll, nil)
	}},
	"Collection.FindOneAndDelete": {"findAndModify", func(ctx context.Context, coll *mongo.Collection, g given) string {
		return oneOf(coll, coll.FindOneAndDelete(ctx, g.orFilter(), chosen[options.FindOneAndDeleteOptions](g)))
	}},
	"Collection.BulkWrite": {"update", func(ctx context.Context, coll *mongo.Collection, g given) string {
		models := []mongo.WriteModel{
			mongo.NewUpdateOneModel().SetFilter(g.orFilter()).SetUpdate(orDocument(g.update, doc("$set", doc("x", "invalid")))),
			mongo.NewUpdateOneModel().SetFilter(doc("_id", "b")).SetUpdate(doc("$set", doc("x", 100))),
		}
		_, err := coll.BulkWrite(ctx, models, chosen[options.BulkWriteOptions](g))
		if g.field == "Ordered" || g.otherDocument != nil {
			return state(ctx, coll, nil)
		}
		return state(ctx, coll, err)
	}},
	"Database.ListCollections": {"listCollections", func(ctx context.Context, coll *mongo.Collection, g given) string {
		cursor, err := coll.Database().ListCollections(ctx, doc("name", coll.Name()), chosen[options.ListCollectionsOptions](g))
		docs := []bson.D{}
		if err == nil {
			err = cursor.All(ctx, &docs)
		}
		var keys []string
		for _, d := range docs {
			for _, f := range d {
				keys = append(keys, f.Key)
			}
		}
		return shown(coll, keys, err)
	}},
	"Database.ListCollectionNames": {"listCollections", func(ctx context.Context, coll *mongo.Collection, g given) string {
		names, err := coll.Database().ListCollectionNames(ctx, doc("name", coll.Name()), chosen[options.ListCollectionsOptions](g))
		return shown(coll, len(names), err)
	}},
	"Database.ListCollectionSpecifications": {"listCollections", func(ctx context.Context, coll *mongo.Collection, g given) string {
		found, err := coll.Database().ListCollectionSpecifications(ctx, doc("name", coll.Name()), chosen[options.ListCollectionsOptions](g))
		return shown(coll, len(found) == 1 && found[0].UUID != nil, err)
	}},
	"IndexView.List": {"listIndexes", func(ctx context.Context, coll *mongo.Collection, g given) string {
		cursor, err := coll.Indexes().List(ctx, chosen[options.ListIndexesOptions](g))
		if err != nil {
			return shown(coll, nil, err)
		}
		return shown(coll, cursor.RemainingBatchLength(), cursor.Close(ctx))
	}},
	"IndexView.ListSpecifications": {"listIndexes", func(ctx context.Context, coll *mongo.Collection, g given) string {
		found, err := coll.Indexes().ListSpecifications(ctx, chosen[options.ListIndexesOptions](g))
		return shown(coll, len(found), err)
	}},
	"Database.CreateCollection": {"create", func(ctx context.Context, coll *mongo.Collection, g given) string {
		db, name := coll.Database(), coll.Name()+"n"
		defer db.Collection(name).Drop(ctx)
		o := []options.Lister[options.CreateCollectionOptions]{g.also, chosen[options.CreateCollectionOptions](g)}
		if g.also == nil {
			o = o[1:]
		}
		if err := db.CreateCollection(ctx, name, o...); err != nil {
			return shown(coll, nil, err)
		}
		found, err := db.ListCollectionSpecifications(ctx, doc("name", name))
		if err != nil || len(found) != 1 {
			return shown(coll, len(found), err)
		}
		return found[0].Options.String()
	}},
	"Database.RunCommand": {"count", func(ctx context.Context, coll *mongo.Collection, g given) string {
		return oneOf(coll, coll.Database().RunCommand(ctx, doc("count", coll.Name()), chosen[options.RunCmdOptions](g)))
	}},
	"Database.RunCommandCursor": {"find", func(ctx context.Context, coll *mongo.Collection, g given) string {
		cursor, err := coll.Database().RunCommandCursor(ctx, doc("find", coll.Name()), chosen[options.RunCmdOptions](g))
		return allOf(ctx, coll, cursor, err)
	}},
	"IndexView.CreateOne": {"createIndexes", func(ctx context.Context, coll *mongo.Collection, g given) string {
		name, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("n", 1)}, chosen[options.CreateIndexesOptions](g))
		return shown(coll, name, err)
	}},
	"IndexView.CreateMany": {"createIndexes", func(ctx context.Context, coll *mongo.Collection, g given) string {
		made, err := coll.Indexes().CreateMany(ctx, []mongo.IndexModel{{Keys: doc("n", 1)}}, chosen[options.CreateIndexesOptions](g))
		return shown(coll, made, err)
	}},
	"Database.CreateView": {"create", func(ctx context.Context, coll *mongo.Collection, g given) string {
		db := coll.Database()
		defer db.Collection(coll.Name() + "v").Drop(ctx)
		if err := db.CreateView(ctx, coll.Name()+"v", coll.Name(), bson.A{}, chosen[options.CreateViewOptions](g)); err != nil {
			return shown(coll, nil, err)
		}
		cursor, err := db.Collection(coll.Name()+"v").Find(ctx, doc("s", "a"))
		return allOf(ctx, coll, cursor, err)
	}},
}

// seen is the effect of an option: want is in the result with the option, and not in the result without it.
type seen struct {
	given
	want string
	sent string // the field that the command must have, or must not have after '!', where nothing can be seen because of
	why  string
}

var (
	strength2 = &options.Collation{Locale: "en", Strength: 2}
	byLet     = doc("$expr", doc("$eq", bson.A{"$x", "$$v"}))
	let2      = doc("v", 2)
	setByLet  = bson.A{doc("$set", doc("n", "$$v"))}
	last      = doc("x", -1)
	none      = doc("_id", "none")
	comment   = seen{given: given{value: "a comment"}, sent: "comment", why: "a comment is in the server's log and profile only"}
	hint      = seen{given: given{value: "nope"}, want: "hint"}
)

// forMethods returns a row for an option of several methods.
func forMethods(rows map[string]seen, option string, row seen, methods ...string) {
	for _, m := range methods {
		rows[m+"."+option] = row
	}
}

// optionsOnEngine returns one row for each option of each method.
func optionsOnEngine() map[string]seen {
	const (
		find, findOne, aggregate, dbAggregate = "Collection.Find", "Collection.FindOne", "Collection.Aggregate", "Database.Aggregate"
		count, estimate, distinct             = "Collection.CountDocuments", "Collection.EstimatedDocumentCount", "Collection.Distinct"
		insert, insertMany                    = "Collection.InsertOne", "Collection.InsertMany"
		updateOne, updateByID, updateMany     = "Collection.UpdateOne", "Collection.UpdateByID", "Collection.UpdateMany"
		replace, deleteOne, deleteMany, bulk  = "Collection.ReplaceOne", "Collection.DeleteOne", "Collection.DeleteMany", "Collection.BulkWrite"
		andUpdate, andReplace, andDelete      = "Collection.FindOneAndUpdate", "Collection.FindOneAndReplace", "Collection.FindOneAndDelete"
		list, names, specifications           = "Database.ListCollections", "Database.ListCollectionNames", "Database.ListCollectionSpecifications"
		indexes, indexSpecifications          = "IndexView.List", "IndexView.ListSpecifications"
	)
	rows := make(map[string]seen)
	forMethods(rows, "Comment", comment, find, findOne, aggregate, dbAggregate, count, estimate, distinct, insert, insertMany, updateOne,
		updateByID, updateMany, replace, deleteOne, deleteMany, andUpdate, andReplace, andDelete)
	rows[bulk+".Comment"] = seen{given{value: "a comment", update: set1}, "", "comment", comment.why}
	forMethods(rows, "Hint", hint, find, findOne, aggregate, count, distinct, updateOne, updateByID, updateMany, replace, deleteOne, deleteMany,
		andUpdate, andReplace, andDelete)
	rows[dbAggregate+".Hint"] = seen{given{value: "nope"}, "", "hint", "$documents reads no index"}
	upper := doc("s", "A")
	forMethods(rows, "Collation", seen{given: given{value: strength2}, want: `"_id":"B"`}, find, aggregate)
	rows[findOne+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: `"_id":"a"`}
	rows[dbAggregate+".Collation"] = seen{given: given{value: strength2}, want: `{"s":"A"}`}
	rows[count+".Collation"] = seen{given: given{value: strength2}, want: "3"}
	rows[distinct+".Collation"] = seen{given: given{value: strength2}, want: "B"}
	forMethods(rows, "Collation", seen{given: given{value: strength2}, want: `"s":"A","x":2,"n"`}, updateMany)
	first := `"v":[1,2],"n"`
	rows[updateOne+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: first}
	rows[updateByID+".Collation"] = seen{given{value: strength2}, "", "updates.0.collation", "the index of _id has another collation, and the filter is its value"}
	rows[replace+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: `{"_id":"a","x":7}`}
	rows[deleteOne+".Collation"] = seen{given: given{value: strength2, filter: doc("s", "A")}, want: `"_id":"B"`}
	rows[deleteMany+".Collation"] = seen{given: given{value: strength2}, want: "[]"}
	rows[andUpdate+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: first}
	rows[andReplace+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: `{"_id":"a","x":7}`}
	rows[andDelete+".Collation"] = seen{given: given{value: strength2, filter: upper}, want: `"_id":"a"`}
	forMethods(rows, "Let", seen{given: given{value: let2, filter: byLet}, want: `"_id":"B"`}, find, andDelete)
	rows[aggregate+".Let"] = seen{given: given{value: let2, pipeline: bson.A{doc("$match", byLet)}}, want: `"_id":"B"`}
	rows[dbAggregate+".Let"] = seen{given: given{value: let2, pipeline: bson.A{doc("$documents", bson.A{doc("n", "$$v")})}}, want: `"n"`}
	n2 := `"n":2`
	forMethods(rows, "Let", seen{given: given{value: let2, update: setByLet}, want: n2}, updateOne, updateByID, updateMany, andUpdate)
	rows[updateByID+".Let"] = seen{given: given{value: let2, filter: "a", update: setByLet}, want: n2}
	rows[bulk+".Let"] = seen{given: given{value: let2, update: setByLet}, want: n2}
	forMethods(rows, "Let", seen{given: given{value: let2, filter: byLet}, want: `{"_id":"B","x":7}`}, replace, andReplace)
	forMethods(rows, "Let", seen{given: given{value: let2, filter: byLet}, want: `[{"_id":"a"`}, deleteOne, deleteMany)
	invalid := `"x":"invalid"`
	forMethods(rows, "BypassDocumentValidation", seen{given: given{value: true}, want: invalid}, insert, insertMany, bulk)
	forMethods(rows, "BypassDocumentValidation", seen{given: given{value: true, update: doc("$set", doc("x", "invalid"))}, want: invalid},
		updateOne, updateMany, andUpdate)
	rows[updateByID+".BypassDocumentValidation"] = seen{given: given{value: true, filter: "a", update: doc("$set", doc("x", "invalid"))}, want: invalid}
	forMethods(rows, "BypassDocumentValidation", seen{given: given{value: true, update: doc("x", "invalid")}, want: invalid}, replace, andReplace)
	rows[aggregate+".BypassDocumentValidation"] = seen{given{value: true}, "", "bypassDocumentValidation", "it is for $out and $merge"}
	rows[dbAggregate+".BypassDocumentValidation"] = rows[aggregate+".BypassDocumentValidation"]
	forMethods(rows, "Upsert", seen{given: given{value: true, filter: none}, want: `"_id":"none"`}, updateOne, updateMany, replace, andUpdate, andReplace)
	rows[updateByID+".Upsert"] = seen{given: given{value: true, filter: "none"}, want: `"_id":"none"`}
	arrays := given{value: []any{doc("e", 2)}, filter: doc("_id", "a"), update: doc("$set", doc("v.$[e]", 9))}
	forMethods(rows, "ArrayFilters", seen{given: arrays, want: `9`}, updateOne, updateMany, andUpdate)
	arrays.filter = "a"
	rows[updateByID+".ArrayFilters"] = seen{given: arrays, want: `9`}
	forMethods(rows, "Sort", seen{given: given{value: last}, want: `{"_id":"b","s":"a","x":3,"v":[1],"n"`}, updateOne, andUpdate)
	rows[updateByID+".Sort"] = seen{given{value: last}, "", "updates.0.sort", "one document has the _id"}
	forMethods(rows, "Sort", seen{given: given{value: last}, want: `{"_id":"b","x":7}`}, replace, andReplace)
	forMethods(rows, "Sort", seen{given: given{value: last}, want: `"_id":"b"`}, findOne, andDelete)
	rows[find+".Sort"] = seen{given: given{value: last}, want: `[{"_id":"b"`}
	forMethods(rows, "Projection", seen{given: given{value: doc("y", doc("$literal", "projected"))}, want: "projected"}, find, findOne, andUpdate, andReplace, andDelete)
	rows[andUpdate+".ReturnDocument"] = seen{given: given{value: options.After}, want: `"n":1}[`}
	rows[andReplace+".ReturnDocument"] = seen{given: given{value: options.After}, want: `{"_id":"a","x":7}[`}
	rows[insertMany+".Ordered"] = seen{given: given{value: false, otherDocument: []d{doc("_id", "a"), doc("_id", "c")}}, want: `"_id":"c"`}
	rows[bulk+".Ordered"] = seen{given: given{value: false}, want: `100`}
	rows[count+".Limit"] = seen{given: given{value: 1}, want: "1"}
	rows[count+".Skip"] = seen{given: given{value: 1}, want: "1"}
	rows[find+".Limit"] = seen{given: given{value: 1}, want: `[1,2]}]`}
	rows[find+".Skip"] = seen{given: given{value: 1}, want: `[{"_id":"b"`}
	rows[findOne+".Skip"] = seen{given: given{value: 1}, want: `"_id":"b"`}
	hinted := "hint"
	forMethods(rows, "Max", seen{given: given{value: doc("x", 2)}, want: hinted}, find, findOne)
	forMethods(rows, "Min", seen{given: given{value: doc("x", 2)}, want: hinted}, find, findOne)
	forMethods(rows, "ReturnKey", seen{given: given{value: true, filter: doc("x", 3)}, want: `{"x":3}`}, find, findOne)
	forMethods(rows, "ShowRecordID", seen{given: given{value: true}, want: `"$recordId"`}, find, findOne)
	forMethods(rows, "AllowPartialResults", seen{given{value: true}, "", "allowPartialResults", "it is for sharded clusters"}, find, findOne)
	forMethods(rows, "OplogReplay", seen{given{value: true}, "", "oplogReplay", "it is for the oplog, which a standalone has not"}, find, findOne)
	rows[find+".AllowDiskUse"] = seen{given{value: true}, "", "allowDiskUse", "the sort fits into the memory"}
	forMethods(rows, "AllowDiskUse", seen{given{value: true}, "", "allowDiskUse", "the stages fit into the memory"}, aggregate, dbAggregate)
	rows[find+".BatchSize"] = seen{given{value: 1}, "", "batchSize", "all batches together are the result"}
	forMethods(rows, "BatchSize", seen{given{value: 1}, "", "cursor.batchSize", "all batches together are the result"}, aggregate, dbAggregate, list)
	forMethods(rows, "BatchSize", seen{given{value: 1}, "", "cursor.batchSize", "all batches together are the result"}, names, specifications, indexSpecifications)
	rows[indexes+".BatchSize"] = seen{given: given{value: 1}, want: "1"}
	rows[find+".CursorType"] = seen{given: given{value: options.Tailable}, want: "error"}
	rows[find+".NoCursorTimeout"] = seen{given{value: true}, "", "noCursorTimeout", "it would take ten minutes"}
	rows[list+".NameOnly"] = seen{given: given{value: true}, want: `["name","type"]`}
	rows[names+".NameOnly"] = seen{given{value: true}, "", "nameOnly", "the result has names only in any case"}
	rows[specifications+".NameOnly"] = seen{given: given{value: true}, want: "false"}
	forMethods(rows, "AuthorizedCollections", seen{given{value: true}, "", "authorizedCollections", "the server has no users"}, list, names, specifications)
	create := func(option string, value any, want string, also ...options.Lister[options.CreateCollectionOptions]) {
		row := seen{given: given{value: value}, want: want}
		if len(also) > 0 {
			row.also = also[0]
		}
		rows["Database.CreateCollection."+option] = row
	}
	capped := options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)
	create("Capped", true, `"capped": true`, options.CreateCollection().SetSizeInBytes(4096))
	create("SizeInBytes", 8192, `"8192"`, options.CreateCollection().SetCapped(true))
	create("MaxDocuments", 7, `"max": {"$numberInt":"7"}`, capped)
	create("Collation", strength2, `"locale": "en"`)
	create("ClusteredIndex", doc("key", doc("_id", 1), "unique", true), `"clusteredIndex"`)
	create("Validator", doc("x", 1), `"validator"`)
	create("ValidationLevel", "moderate", `"moderate"`)
	create("ValidationAction", "warn", `"warn"`)
	create("StorageEngine", doc("nope", d{}), "error")
	create("DefaultIndexOptions", options.DefaultIndex().SetStorageEngine(doc("nope", d{})), "error")
	series := options.TimeSeries().SetTimeField("t")
	create("TimeSeriesOptions", series, `"timeseries"`)
	create("ExpireAfterSeconds", 100, `"expireAfterSeconds"`, options.CreateCollection().SetTimeSeriesOptions(series))
	create("ChangeStreamPreAndPostImages", doc("enabled", true), `"changeStreamPreAndPostImages"`)
	forMethods(rows, "ReadPreference", seen{given{value: readpref.Nearest()}, "", "!$readPreference", "a standalone gets none"},
		"Database.RunCommand", "Database.RunCommandCursor")
	forMethods(rows, "CommitQuorum", seen{given: given{value: "majority"}, want: "error"}, "IndexView.CreateOne", "IndexView.CreateMany")
	rows["Database.CreateView.Collation"] = seen{given: given{value: strength2}, want: `"_id":"B"`}
	await := "it is for cursors that await"
	forMethods(rows, "MaxAwaitTime", seen{given{value: time.Second}, "", "!maxTimeMS", await}, find, aggregate, dbAggregate)
	return rows
}

// TestEachOptionOnTheEngine runs each row on MongoDB's own engine.
func TestEachOptionOnTheEngine(t *testing.T) {
	uri := spectest.Server(t)
	var sent []*event.CommandStartedEvent
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) { sent = append(sent, e) }}
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetMonitor(monitor))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	for name, row := range optionsOnEngine() {
		t.Run(name, func(t *testing.T) {
			at := strings.LastIndex(name, ".")
			m := optionMethods[name[:at]]
			run := func(g given) string {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				coll := prepared(ctx, t, client)
				defer coll.Drop(ctx)
				sent = nil
				return m.call(ctx, coll, g)
			}
			row.field = name[at+1:]
			none := row.given
			none.field = ""
			without, with := run(none), run(row.given)
			switch {
			case row.sent != "":
				row.checkSent(t, m.command, sent)
			case (row.want == "" || strings.Contains(without, row.want) || !strings.Contains(with, row.want)):
				t.Errorf("without it: %s\nwith it: %s\nwant %s in the second only", without, with, row.want)
			}
		})
	}
}

// checkSent checks that the command has the option, where its effect cannot be seen.
func (s seen) checkSent(t *testing.T, command string, sent []*event.CommandStartedEvent) {
	t.Helper()
	if s.why == "" {
		t.Error("the row does not say why nothing can be seen")
	}
	for _, e := range sent {
		if e.CommandName == command {
			name, absent := strings.CutPrefix(s.sent, "!")
			if _, err := e.Command.LookupErr(strings.Split(name, ".")...); (err != nil) != absent {
				t.Errorf("%s, in the command: %v", s.sent, e.Command)
			}
			return
		}
	}
	t.Errorf("no %s was sent", command)
}

// prepared returns a new collection with documents, an index and a validator.
func prepared(ctx context.Context, t *testing.T, client *mongo.Client) *mongo.Collection {
	t.Helper()
	db, name := client.Database("holdfast_test_options"), bson.NewObjectID().Hex()
	if err := db.CreateCollection(ctx, name, options.CreateCollection().SetValidator(doc("x", doc("$not", doc("$type", "string"))))); err != nil {
		t.Fatal(err)
	}
	coll := db.Collection(name)
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("x", 1)}); err != nil {
		t.Fatal(err)
	}
	_, err := coll.InsertMany(ctx, []d{
		doc("_id", "a", "s", "a", "x", 1, "v", bson.A{1, 2}), doc("_id", "B", "s", "A", "x", 2), doc("_id", "b", "s", "a", "x", 3, "v", bson.A{1}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return coll
}

// withoutRows are the methods with options that are not run on the engine.
var withoutRows = map[string]string{
	"Collection.Clone":      "the concerns and preferences of a handle are not for a standalone; the decoding is the client's",
	"Database.Collection":   "as for Collection.Clone",
	"Collection.Watch":      "a standalone has no change streams",
	"Database.Watch":        "a standalone has no change streams",
	"Database.GridFSBucket": "as for Collection.Clone",
}

func TestEachOptionHasARow(t *testing.T) {
	rows := optionsOnEngine()
	supported := make(map[reflect.Type][]string)
	for _, row := range mongo.SupportedOptions() {
		supported[row.Type] = row.Supported
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*mongo.Collection](), reflect.TypeFor[*mongo.Database](), reflect.TypeFor[mongo.IndexView]()} {
		for i := range of.NumMethod() {
			m := of.Method(i)
			if !m.Type.IsVariadic() {
				continue
			}
			_, receiver, _ := strings.Cut(of.String(), ".")
			name := receiver + "." + m.Name
			if _, listed := withoutRows[name]; listed {
				continue
			}
			for _, option := range supported[optionsOf(m)] {
				if _, ok := rows[name+"."+option]; !ok && option != "Internal" && option != "Custom" { // these have no setter
					t.Errorf("there is no row for the option %s of %s", option, name)
				}
			}
		}
	}
}

// optionsOf returns the type of a method's options.
func optionsOf(m reflect.Method) reflect.Type {
	lister := m.Type.In(m.Type.NumIn() - 1).Elem()
	list, ok := lister.MethodByName("List")
	if !ok {
		return nil
	}
	return list.Type.Out(0).Elem().In(0).Elem()
}

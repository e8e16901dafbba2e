package mongo_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongo"
)

// nested is an option of an option. want is its text in the server's definition of the index or the collection.
type nested struct {
	field string
	value any
	want  string
	keys  any // of the index; nil means {x: 1}
}

var indexOptions = []nested{
	{field: "ExpireAfterSeconds", value: 100, want: `"expireAfterSeconds":100`},
	{field: "Name", value: "own", want: `"name":"own"`},
	{field: "Sparse", value: true, want: `"sparse":true`},
	{field: "StorageEngine", value: doc("wiredTiger", doc("configString", "")), want: `"storageEngine":{"wiredTiger"`},
	{field: "Unique", value: true, want: `"unique":true`},
	{field: "Version", value: 1, want: `"v":1`},
	{field: "DefaultLanguage", value: "french", want: `"default_language":"french"`, keys: doc("s", "text")},
	{field: "LanguageOverride", value: "idioma", want: `"language_override":"idioma"`, keys: doc("s", "text")},
	{field: "TextVersion", value: 2, want: `"textIndexVersion":2`, keys: doc("s", "text")},
	{field: "Weights", value: doc("s", 5), want: `"weights":{"s":5}`, keys: doc("s", "text")},
	{field: "SphereVersion", value: 2, want: `"2dsphereIndexVersion":2`, keys: doc("place", "2dsphere")},
	{field: "Bits", value: 20, want: `"bits":20`, keys: doc("place", "2d")},
	{field: "Max", value: 90.5, want: `"max":90.5`, keys: doc("place", "2d")},
	{field: "Min", value: -90.5, want: `"min":-90.5`, keys: doc("place", "2d")},
	{field: "PartialFilterExpression", value: doc("x", 1), want: `"partialFilterExpression":{"x":1}`},
	{field: "Collation", value: &options.Collation{Locale: "fr"}, want: `"locale":"fr"`},
	{field: "WildcardProjection", value: doc("v", 1), want: `"wildcardProjection":{"v":1}`, keys: doc("$**", 1)},
	{field: "Hidden", value: true, want: `"hidden":true`},
}

// BucketSize was for geoHaystack indexes, which servers have not had since 5.0.
const onlyOldServers = "BucketSize"

var collationOptions = []nested{
	{field: "Locale", value: "fr", want: `"locale":"fr"`},
	{field: "CaseLevel", value: true, want: `"caseLevel":true`},
	{field: "CaseFirst", value: "upper", want: `"caseFirst":"upper"`},
	{field: "Strength", value: 4, want: `"strength":4`},
	{field: "NumericOrdering", value: true, want: `"numericOrdering":true`},
	{field: "Alternate", value: "shifted", want: `"alternate":"shifted"`},
	{field: "MaxVariable", value: "space", want: `"maxVariable":"space"`},
	{field: "Normalization", value: true, want: `"normalization":true`},
	{field: "Backwards", value: true, want: `"backwards":true`},
}

var timeSeriesOptions = []nested{
	{field: "TimeField", value: "at", want: `"timeField":"at"`},
	{field: "MetaField", value: "m", want: `"metaField":"m"`},
	{field: "Granularity", value: "hours", want: `"granularity":"hours"`},
	{field: "BucketMaxSpan", value: 2 * time.Hour, want: `"bucketMaxSpanSeconds":7200`},
	{field: "BucketRounding", value: 2 * time.Hour, want: `"bucketRoundingSeconds":7200`},
}

// TestNestedOptionsOnTheEngine sets each field of the options of indexes, collations and time series. MongoDB's own engine
// must then have it in its definition, and must not have it otherwise.
func TestNestedOptionsOnTheEngine(t *testing.T) {
	client, err := mongo.Connect(options.Client().ApplyURI(spectest.Server(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	db := client.Database("holdfast_test_nested")
	defer db.Drop(context.Background())

	eachRow[options.IndexOptions](t, indexOptions, func(t *testing.T, n nested) string {
		builder := options.Index()
		if n.value != nil {
			builder.Opts = set[options.IndexOptions]{n.field, n.value}.List()
		}
		keys := n.keys
		if keys == nil {
			keys = doc("x", 1)
		}
		return index(t, db, mongo.IndexModel{Keys: keys, Options: builder})
	})
	eachRow[options.Collation](t, collationOptions, func(t *testing.T, n nested) string {
		c := options.Collation{Locale: "en"}
		if n.value != nil {
			reflect.ValueOf(&c).Elem().FieldByName(n.field).Set(reflect.ValueOf(n.value))
		}
		return index(t, db, mongo.IndexModel{Keys: doc("x", 1), Options: options.Index().SetCollation(&c)})
	})
	eachRow[options.TimeSeriesOptions](t, timeSeriesOptions, func(t *testing.T, n nested) string {
		builder := options.TimeSeries().SetTimeField("t")
		if n.value != nil {
			builder.Opts = append(builder.Opts, set[options.TimeSeriesOptions]{n.field, n.value}.List()...)
		}
		if span, ok := n.value.(time.Duration); ok { // the server wants both or none
			builder.SetBucketMaxSpan(span).SetBucketRounding(span)
		}
		return series(t, db, builder)
	})
}

// eachRow runs f with each row, once with and once without its value, and checks that each field of T has a row.
func eachRow[T any](t *testing.T, rows []nested, f func(*testing.T, nested) string) {
	t.Helper()
	seen := map[string]bool{onlyOldServers: true}
	for _, n := range rows {
		seen[n.field] = true
		t.Run(reflect.TypeFor[T]().Name()+"."+n.field, func(t *testing.T) {
			with := f(t, n)
			n.value = nil
			if without := f(t, n); !strings.Contains(with, n.want) || strings.Contains(without, n.want) {
				t.Errorf("without it: %s\nwith it: %s\nwant %s in the second only", without, with, n.want)
			}
		})
	}
	for i := range reflect.TypeFor[T]().NumField() {
		if name := reflect.TypeFor[T]().Field(i).Name; !seen[name] {
			t.Errorf("there is no row for %v.%s", reflect.TypeFor[T](), name)
		}
	}
}

// index creates an index and returns its definition.
func index(t *testing.T, db *mongo.Database, m mongo.IndexModel) string {
	t.Helper()
	coll := db.Collection(bson.NewObjectID().Hex())
	if _, err := coll.Indexes().CreateOne(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	cursor, err := coll.Indexes().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.Raw
	if err := cursor.All(t.Context(), &all); err != nil || len(all) != 2 {
		t.Fatalf("%d indexes, %v", len(all), err)
	}
	return relaxed(t, all[1])
}

// series creates a time series and returns the collection's definition.
func series(t *testing.T, db *mongo.Database, o *options.TimeSeriesOptionsBuilder) string {
	t.Helper()
	name := bson.NewObjectID().Hex()
	if err := db.CreateCollection(t.Context(), name, options.CreateCollection().SetTimeSeriesOptions(o)); err != nil {
		t.Fatal(err)
	}
	specs, err := db.ListCollectionSpecifications(t.Context(), doc("name", name))
	if err != nil || len(specs) != 1 {
		t.Fatalf("%d collections, %v", len(specs), err)
	}
	return relaxed(t, specs[0].Options)
}

func relaxed(t *testing.T, d bson.Raw) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(d, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package mongo

import (
	"cmp"
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	// EncryptedFields needs client-side encryption, which is not supported.
	createCollectionFields = supported(
		"Capped", "Collation", "ChangeStreamPreAndPostImages", "DefaultIndexOptions", "MaxDocuments", "SizeInBytes",
		"StorageEngine", "ValidationAction", "ValidationLevel", "Validator", "ExpireAfterSeconds", "TimeSeriesOptions",
		"ClusteredIndex")
	defaultIndexFields = supported("StorageEngine")
	timeSeriesFields   = supported("TimeField", "MetaField", "Granularity", "BucketMaxSpan", "BucketRounding")
	createViewFields   = supported("Collation")
)

// CreateCollection creates a collection with options. Without options there is no need for it: a server creates a
// collection with its first document. It is retried for overload only.
func (db *Database) CreateCollection(
	ctx context.Context, name string, opts ...options.Lister[options.CreateCollectionOptions],
) error {
	o, err := databaseWriteArguments(db, createCollectionFields, opts)
	if err != nil {
		return err
	}
	x := extras{b: wire.AppendString(nil, "create", name), codec: db.scope.codec}
	x.boolean("capped", o.Capped)
	x.document("changeStreamPreAndPostImages", o.ChangeStreamPreAndPostImages)
	x.collation(o.Collation)
	x.defaultIndex(o.DefaultIndexOptions)
	x.int64("max", o.MaxDocuments)
	x.int64("size", o.SizeInBytes)
	x.document("storageEngine", o.StorageEngine)
	x.text("validationAction", o.ValidationAction)
	x.text("validationLevel", o.ValidationLevel)
	x.document("validator", o.Validator)
	x.int64("expireAfterSeconds", o.ExpireAfterSeconds)
	x.timeSeries(o.TimeSeriesOptions)
	x.document("clusteredIndex", o.ClusteredIndex)
	if x.err != nil {
		return x.err
	}
	return db.define(ctx, name, "create", db.scope.writeConcern, &plainCommand{elements: x.b})
}

// CreateView creates a view: a pipeline on a collection or on another view. It is retried for overload only.
func (db *Database) CreateView(
	ctx context.Context, viewName, viewOn string, pipeline any, opts ...options.Lister[options.CreateViewOptions],
) error {
	o, err := databaseWriteArguments(db, createViewFields, opts)
	if err != nil {
		return err
	}
	p, err := db.scope.codec.pipeline(pipeline)
	if err != nil {
		return err
	}
	x := extras{b: wire.AppendString(nil, "create", viewName), codec: db.scope.codec}
	x.text("viewOn", &viewOn)
	x.b = p.appendTo(x.b, "pipeline")
	x.collation(o.Collation)
	return db.define(ctx, viewName, "create", db.scope.writeConcern, &plainCommand{elements: x.b})
}

func (x *extras) defaultIndex(builder *options.DefaultIndexOptionsBuilder) {
	if builder == nil {
		return
	}
	o, err := collect(defaultIndexFields, []options.Lister[options.DefaultIndexOptions]{builder})
	x.err = cmp.Or(x.err, err)
	at, b := wire.BeginEmbedded(x.b, "indexOptionDefaults")
	x.b = b
	x.document("storageEngine", o.StorageEngine)
	x.b = wire.EndDocument(x.b, at)
}

func (x *extras) timeSeries(builder *options.TimeSeriesOptionsBuilder) {
	if builder == nil {
		return
	}
	o, err := collect(timeSeriesFields, []options.Lister[options.TimeSeriesOptions]{builder})
	x.err = cmp.Or(x.err, err)
	at, b := wire.BeginEmbedded(x.b, "timeseries")
	x.b = b
	x.text("timeField", &o.TimeField)
	x.text("metaField", o.MetaField)
	x.text("granularity", o.Granularity)
	x.seconds("bucketMaxSpanSeconds", o.BucketMaxSpan)
	x.seconds("bucketRoundingSeconds", o.BucketRounding)
	x.b = wire.EndDocument(x.b, at)
}

// seconds writes a duration in whole seconds. As in the official driver, a fraction is cut off.
func (x *extras) seconds(key string, d *time.Duration) {
	if d != nil {
		n := int64(*d / time.Second)
		x.int64(key, &n)
	}
}

func (x *extras) text(key string, s *string) {
	if s != nil {
		x.b = wire.AppendString(x.b, key, *s)
	}
}

// Drop drops the database with all its collections. It is retried for overload only.
func (db *Database) Drop(ctx context.Context) error {
	if err := cmp.Or(db.err, db.scope.writeRefused); err != nil {
		return err
	}
	return db.define(ctx, "", "dropDatabase", db.scope.writeConcern, &plainCommand{elements: wire.AppendInt32(nil, "dropDatabase", 1)})
}

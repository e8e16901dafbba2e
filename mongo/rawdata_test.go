package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// rawDataOperations are the operations that have the option rawData (CRUD specification), with the names of their commands.
var rawDataOperations = map[string]struct {
	command string
	do      func(ctx context.Context, c *mongo.Collection, on bool) error
}{
	"Aggregate": {"aggregate", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Aggregate()
		set := xoptions.SetInternalAggregateOptions(o, "rawData", on)
		_, err := c.Aggregate(ctx, bson.A{}, o)
		return errors.Join(set, err)
	}},
	"Database.Aggregate": {"aggregate", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Aggregate()
		set := xoptions.SetInternalAggregateOptions(o, "rawData", on)
		_, err := c.Database().Aggregate(ctx, bson.A{doc("$listLocalSessions", d{})}, o)
		return errors.Join(set, err)
	}},
	"CountDocuments": {"aggregate", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Count()
		set := xoptions.SetInternalCountOptions(o, "rawData", on)
		_, err := c.CountDocuments(ctx, d{}, o)
		return errors.Join(set, err)
	}},
	"EstimatedDocumentCount": {"count", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.EstimatedDocumentCount()
		set := xoptions.SetInternalEstimatedDocumentCountOptions(o, "rawData", on)
		_, err := c.EstimatedDocumentCount(ctx, o)
		return errors.Join(set, err)
	}},
	"Distinct": {"distinct", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Distinct()
		set := xoptions.SetInternalDistinctOptions(o, "rawData", on)
		return errors.Join(set, c.Distinct(ctx, "x", d{}, o).Err())
	}},
	"Find": {"find", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Find()
		set := xoptions.SetInternalFindOptions(o, "rawData", on)
		_, err := c.Find(ctx, d{}, o)
		return errors.Join(set, err)
	}},
	"FindOne": {"find", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOne()
		set := xoptions.SetInternalFindOneOptions(o, "rawData", on)
		return errors.Join(set, c.FindOne(ctx, d{}, o).Err())
	}},
	"FindOneAndDelete": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndDelete()
		set := xoptions.SetInternalFindOneAndDeleteOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndDelete(ctx, d{}, o).Err())
	}},
	"FindOneAndReplace": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndReplace()
		set := xoptions.SetInternalFindOneAndReplaceOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndReplace(ctx, d{}, d{}, o).Err())
	}},
	"FindOneAndUpdate": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndUpdate()
		set := xoptions.SetInternalFindOneAndUpdateOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndUpdate(ctx, d{}, doc("$set", doc("x", 1)), o).Err())
	}},
	"Indexes.CreateOne": {"createIndexes", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.CreateIndexes()
		set := xoptions.SetInternalCreateIndexesOptions(o, "rawData", on)
		_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("x", 1)}, o)
		return errors.Join(set, err)
	}},
	"Indexes.DropAll": {"dropIndexes", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.DropIndexes()
		set := xoptions.SetInternalDropIndexesOptions(o, "rawData", on)
		return errors.Join(set, c.Indexes().DropAll(ctx, o))
	}},
	"Indexes.List": {"listIndexes", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.ListIndexes()
		set := xoptions.SetInternalListIndexesOptions(o, "rawData", on)
		_, err := c.Indexes().List(ctx, o)
		return errors.Join(set, err)
	}},
	"ListCollectionNames": {"listCollections", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.ListCollections()
		set := xoptions.SetInternalListCollectionsOptions(o, "rawData", on)
		_, err := c.Database().ListCollectionNames(ctx, d{}, o)
		return errors.Join(set, err)
	}},
	"InsertOne": {"insert", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.InsertOne()
		set := xoptions.SetInternalInsertOneOptions(o, "rawData", on)
		_, err := c.InsertOne(ctx, d{}, o)
		return errors.Join(set, err)
	}},
}

// CRUD specification: rawData is for MongoDB 8.2 and later, and older servers do not get it.
func TestRawDataIsSentToTheServersThatKnowIt(t *testing.T) {
	for name, op := range rawDataOperations {
		for wire, sends := range map[int32]bool{26: false, 27: true} {
			for _, on := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " ", on, " on wire version ", wire), func(t *testing.T) {
					in(t, poll, func(w *world) {
						w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
							reply := next(r)
							if reply != nil {
								var hello d
								w.must(bson.Unmarshal(without(t, reply.Body, "maxWireVersion"), &hello))
								b, err := bson.Marshal(append(hello, e{Key: "maxWireVersion", Value: wire}))
								w.must(err)
								reply.Body = b
							}
							return reply
						})
						_ = op.do(w.ctx, w.coll, on) // mongotest is of an older version, which refuses the field
						v, err := w.started(op.command)[0].Command.LookupErr("rawData")
						if (err == nil) != sends || err == nil && v.Boolean() != on {
							t.Errorf("rawData is %v, want it: %t", v, sends)
						}
					})
				})
			}
		}
	}
}

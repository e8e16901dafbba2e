package compare

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
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
		_, err := c.Database().Aggregate(ctx, bson.A{bson.D{{Key: "$listLocalSessions", Value: bson.D{}}}}, o)
		return errors.Join(set, err)
	}},
	"CountDocuments": {"aggregate", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Count()
		set := xoptions.SetInternalCountOptions(o, "rawData", on)
		_, err := c.CountDocuments(ctx, bson.D{}, o)
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
		return errors.Join(set, c.Distinct(ctx, "x", bson.D{}, o).Err())
	}},
	"Find": {"find", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.Find()
		set := xoptions.SetInternalFindOptions(o, "rawData", on)
		_, err := c.Find(ctx, bson.D{}, o)
		return errors.Join(set, err)
	}},
	"FindOne": {"find", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOne()
		set := xoptions.SetInternalFindOneOptions(o, "rawData", on)
		return errors.Join(set, c.FindOne(ctx, bson.D{}, o).Err())
	}},
	"FindOneAndDelete": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndDelete()
		set := xoptions.SetInternalFindOneAndDeleteOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndDelete(ctx, bson.D{}, o).Err())
	}},
	"FindOneAndReplace": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndReplace()
		set := xoptions.SetInternalFindOneAndReplaceOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndReplace(ctx, bson.D{}, bson.D{}, o).Err())
	}},
	"FindOneAndUpdate": {"findAndModify", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.FindOneAndUpdate()
		set := xoptions.SetInternalFindOneAndUpdateOptions(o, "rawData", on)
		return errors.Join(set, c.FindOneAndUpdate(ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}, o).Err())
	}},
	"Indexes.CreateOne": {"createIndexes", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.CreateIndexes()
		set := xoptions.SetInternalCreateIndexesOptions(o, "rawData", on)
		_, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}}, o)
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
		_, err := c.Database().ListCollectionNames(ctx, bson.D{}, o)
		return errors.Join(set, err)
	}},
	"InsertOne": {"insert", func(ctx context.Context, c *mongo.Collection, on bool) error {
		o := options.InsertOne()
		set := xoptions.SetInternalInsertOneOptions(o, "rawData", on)
		_, err := c.InsertOne(ctx, bson.D{}, o)
		return errors.Join(set, err)
	}},
}

// CRUD specification: rawData is for MongoDB 8.2 and later, and older servers do not get it. Only the official module's package
// xoptions can set it.
func TestOurClientSendsRawDataToTheServersThatKnowIt(t *testing.T) {
	for name, op := range rawDataOperations {
		for wire, sends := range map[int32]bool{26: false, 27: true} {
			for _, on := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " ", on, " on wire version ", wire), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						v, err := rawDataSent(t, wire, op.command, func(c *mongo.Collection) { _ = op.do(t.Context(), c, on) })
						if (err == nil) != sends || err == nil && v.Boolean() != on {
							t.Errorf("rawData is %v, want it: %t", v, sends)
						}
					})
				})
			}
		}
	}
}

// rawDataSent returns the rawData of the command that do sends to a server of a wire version. mongotest is of an older version, which
// refuses the field.
func rawDataSent(t *testing.T, wire int32, command string, do func(*mongo.Collection)) (bson.RawValue, error) {
	t.Helper()
	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		reply := next(r)
		if reply == nil {
			return nil
		}
		var hello bson.D
		if err := bson.Unmarshal(reply.Body, &hello); err != nil {
			t.Error(err)
		}
		for i := range hello {
			if hello[i].Key == "maxWireVersion" {
				hello[i].Value = wire
			}
		}
		reply.Body, _ = bson.Marshal(hello)
		return reply
	})
	var sent bson.Raw
	o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetServerMonitoringMode(options.ServerMonitoringModePoll)
	client, err := mongo.Connect(o.SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == command && sent == nil {
			sent = e.Command
		}
	}}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	do(client.Database("test").Collection("c"))
	return sent.LookupErr("rawData")
}

package mongo_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// A server that gives up a write of several documents leaves what it has done. Then the error does not say that nothing was applied.
func TestAWriteOfSeveralDocumentsThatIsGivenUpMayBePartlyDone(t *testing.T) {
	one, two := mongo.NewInsertOneModel().SetDocument(bson.D{}), mongo.NewInsertOneModel().SetDocument(bson.D{})
	each := mongo.ClientBulkWrite{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(bson.D{})}
	inc := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	methods := map[string]struct {
		several bool
		command string
		do      func(ctx context.Context, c *mongo.Client, coll *mongo.Collection) error
	}{
		"InsertOne": {false, "insert", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.InsertOne(ctx, bson.D{})
			return err
		}},
		"InsertMany": {true, "insert", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.InsertMany(ctx, []bson.D{{}, {}})
			return err
		}},
		"UpdateOne": {false, "update", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.UpdateOne(ctx, bson.D{}, inc)
			return err
		}},
		"UpdateMany": {true, "update", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.UpdateMany(ctx, bson.D{}, inc)
			return err
		}},
		"DeleteMany": {true, "delete", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.DeleteMany(ctx, bson.D{})
			return err
		}},
		"BulkWrite of one": {false, "insert", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.BulkWrite(ctx, []mongo.WriteModel{one})
			return err
		}},
		"BulkWrite": {true, "insert", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.BulkWrite(ctx, []mongo.WriteModel{one, two})
			return err
		}},
		"FindOneAndUpdate": {false, "findAndModify", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			return coll.FindOneAndUpdate(ctx, bson.D{}, inc).Err()
		}},
		"Client.BulkWrite of one": {false, "bulkWrite", func(ctx context.Context, c *mongo.Client, _ *mongo.Collection) error {
			_, err := c.BulkWrite(ctx, []mongo.ClientBulkWrite{each})
			return err
		}},
		"Client.BulkWrite": {true, "bulkWrite", func(ctx context.Context, c *mongo.Client, _ *mongo.Collection) error {
			_, err := c.BulkWrite(ctx, []mongo.ClientBulkWrite{each, each})
			return err
		}},
		"$merge": {true, "aggregate", func(ctx context.Context, _ *mongo.Client, coll *mongo.Collection) error {
			_, err := coll.Aggregate(ctx, bson.A{bson.D{{Key: "$merge", Value: "d"}}})
			return err
		}},
		"in a transaction": {false, "insert", func(ctx context.Context, c *mongo.Client, coll *mongo.Collection) error {
			s, err := c.StartSession()
			if err != nil {
				return err
			}
			defer s.EndSession(ctx)
			if err := s.StartTransaction(); err != nil {
				return err
			}
			_, err = coll.InsertMany(mongo.NewSessionContext(ctx, s), []bson.D{{}, {}})
			return err
		}},
	}
	answers := map[string]struct {
		code    int32
		labels  []string
		givenUp bool
	}{
		"MaxTimeMSExpired":                {50, nil, true},
		"Interrupted":                     {11601, nil, true},
		"InterruptedDueToReplStateChange": {11602, nil, true},
		"PrimarySteppedDown":              {189, nil, true},
		"NotWritablePrimary":              {10107, nil, false},
		"a value that is bad":             {2, nil, false},
		"the label NoWritesPerformed":     {50, []string{"NoWritesPerformed"}, false},
		"NoWritesPerformed, with others":  {50, []string{"NoWritesPerformed", "SystemOverloadedError"}, false},
	}
	for name, method := range methods {
		for about, answer := range answers {
			t.Run(name+"/"+about, func(t *testing.T) {
				in(t, nil, func(w *world) {
					w.seed()
					w.heal = w.set.Use(method.command, mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: answer.code, Labels: answer.labels}}))
					err := method.do(w.ctx, w.client, w.coll)
					var history *retry.Error
					if !errors.As(err, &history) || history.MayHaveApplied() != (method.several && answer.givenUp) {
						w.Errorf("%v: it may have been applied: %t", err, history != nil && history.MayHaveApplied())
					}
				}, mongotest.Version("8.0"))
			})
		}
	}
}

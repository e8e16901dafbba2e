package compare

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// hintRows are on a server of 4.4, the oldest one that the official driver accepts.
var hintRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name string
		do   call
	}{
		{"deleteOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.DeleteOne(ctx, byID, options.DeleteOne().SetHint("_id_")))
		}},
		{"updateOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.UpdateOne(ctx, byID, inc, options.UpdateOne().SetHint("_id_")))
		}},
		{"replaceOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.ReplaceOne(ctx, byID, bson.D{}, options.Replace().SetHint("_id_")))
		}},
		{"findOneAndUpdate", func(ctx context.Context, s *stage) (any, error) {
			err := s.coll.FindOneAndUpdate(ctx, byID, inc, options.FindOneAndUpdate().SetHint("_id_")).Err()
			return nil, err
		}},
	} {
		server := []mongotest.Option{mongotest.Version("4.4")}
		different := []string{"error", "sent"}
		if c.name != "findOneAndUpdate" {
			different = append(different, "result")
		}
		rows = append(rows,
			row{name: "hint of " + c.name, do: on(concern(1, nil), c.do), server: server},
			row{
				name: "hint of " + c.name + " with w: 0", do: on(concern(0, nil), c.do), server: server,
				differ: different, why: "the CRUD specification permits it from 4.4 on",
			},
		)
	}
	return rows
}()

var findRows = []row{
	{
		name: "find with batchSize equal to limit", do: find(options.Find().SetLimit(4).SetBatchSize(4)),
		differ: []string{"sent"}, why: "the CRUD specification demands one more",
	},
	{name: "find with batchSize below limit", do: find(options.Find().SetLimit(5).SetBatchSize(4))},
	{name: "find with batchSize equal to the negative limit", do: find(options.Find().SetLimit(-4).SetBatchSize(4))},
	{
		name: "find with batchSize 0 and limit 0", do: find(options.Find().SetLimit(0).SetBatchSize(0)),
		differ: []string{"sent"}, why: "a limit of 0, which is none, is not sent",
	},
	{name: "find with the largest batchSize as limit", do: find(options.Find().SetLimit(1<<31 - 1).SetBatchSize(1<<31 - 1))},
	{
		name: "find with a map of two keys as min", do: find(options.Find().SetMin(twoKeys)), differ: []string{"error", "sent"},
		why: "the order of min and max has a meaning too",
	},
	{
		name: "find with a map of two keys as max", do: find(options.Find().SetMax(twoKeys)), differ: []string{"error", "sent"},
		why: "the order of min and max has a meaning too",
	},
}

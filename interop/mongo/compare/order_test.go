package compare

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// twoKeys has no order, and oneKey needs none.
var (
	twoKeys = bson.M{"a": 1, "b": 1}
	oneKey  = bson.M{"n": 1}
	byID    = bson.D{{Key: "_id", Value: "known"}}
	inc     = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
)

// orderCalls are the calls with an argument whose order matters.
var orderCalls = []struct {
	name string
	do   func(ctx context.Context, s *stage, v any) (any, error)
}{
	{"runCommand", func(ctx context.Context, s *stage, v any) (any, error) { return nil, s.db.RunCommand(ctx, v).Err() }},
	{"find sort", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.Find(ctx, bson.D{}, options.Find().SetSort(v))
		return nil, err
	}},
	{"find hint", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.Find(ctx, bson.D{}, options.Find().SetHint(v))
		return nil, err
	}},
	{"findOne sort", func(ctx context.Context, s *stage, v any) (any, error) {
		return nil, s.coll.FindOne(ctx, bson.D{}, options.FindOne().SetSort(v)).Err()
	}},
	{"findOne hint", func(ctx context.Context, s *stage, v any) (any, error) {
		return nil, s.coll.FindOne(ctx, bson.D{}, options.FindOne().SetHint(v)).Err()
	}},
	{"updateOne hint", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.UpdateOne(ctx, byID, inc, options.UpdateOne().SetHint(v))
		return nil, err
	}},
	{"updateOne sort", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.UpdateOne(ctx, byID, inc, options.UpdateOne().SetSort(v))
		return nil, err
	}},
	{"replaceOne hint", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.ReplaceOne(ctx, byID, bson.D{{Key: "x", Value: 1}}, options.Replace().SetHint(v))
		return nil, err
	}},
	{"replaceOne sort", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.ReplaceOne(ctx, byID, bson.D{{Key: "x", Value: 1}}, options.Replace().SetSort(v))
		return nil, err
	}},
	{"deleteOne hint", func(ctx context.Context, s *stage, v any) (any, error) {
		_, err := s.coll.DeleteOne(ctx, byID, options.DeleteOne().SetHint(v))
		return nil, err
	}},
	{"findOneAndUpdate hint", func(ctx context.Context, s *stage, v any) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, inc, options.FindOneAndUpdate().SetHint(v)).Err()
	}},
	{"findOneAndUpdate sort", func(ctx context.Context, s *stage, v any) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, inc, options.FindOneAndUpdate().SetSort(v)).Err()
	}},
}

// namedMap is a map type of the application.
type namedMap map[string]int

// orderValues are the values of such an argument.
var orderValues = []struct {
	name  string
	value any
}{
	{"a map with two keys", twoKeys},
	{"a map of another type with two keys", namedMap{"a": 1, "b": 1}},
	{"a map with one key", oneKey},
	{"a map without keys", bson.M{}},
	{"a nil map", bson.M(nil)},
	{"nil", nil},
	{"a nil pointer", (*bson.D)(nil)},
	{"an empty document", bson.D{}},
	{"a nil document", bson.D(nil)},
	{"a number", 1},
}

var orderRows = func() []row {
	var rows []row
	for _, call := range orderCalls {
		for _, v := range orderValues {
			r := row{
				name: call.name + ": " + v.name,
				do:   func(ctx context.Context, s *stage) (any, error) { return call.do(ctx, s, v.value) },
			}
			_, hint := strings.CutSuffix(call.name, " hint")
			document, err := bson.Marshal(v.value)
			switch {
			case v.name == "a nil pointer" && !hint:
				r.differ, r.why = []string{"error"}, "a nil pointer is ErrNilDocument for every argument that is a document"
			case call.name == "runCommand" && err == nil && len(document) == emptyLength:
				r.differ, r.why = []string{"error", "sent"}, "an empty command is refused before it is sent"
			}
			rows = append(rows, r)
		}
		// The official driver sends it, in an order that differs from run to run.
		rows = append(rows, row{
			name:   call.name + ": a pointer to a map with two keys",
			do:     func(ctx context.Context, s *stage) (any, error) { return call.do(ctx, s, &twoKeys) },
			differ: []string{"error", "sent"}, why: "a pointer to a map has no order either",
		})
	}
	return rows
}()

const emptyLength = 5 // of a document without fields

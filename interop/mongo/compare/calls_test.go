package compare

import (
	"context"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type call = func(context.Context, *stage) (any, error)

// within gives the call a deadline.
func within(d time.Duration, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return do(ctx, s)
	}
}

// cancelledAfter cancels the call's context.
func cancelledAfter(d time.Duration, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(d, cancel).Stop()
		return do(ctx, s)
	}
}

// on runs the call on a collection with options.
func on(o *options.CollectionOptionsBuilder, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		s.coll = s.db.Collection("c", o)
		return do(ctx, s)
	}
}

var (
	yes, no  = true, false
	one      = bson.D{{Key: "_id", Value: 1}}
	dropOf   = func(ctx context.Context, s *stage) (any, error) { return nil, s.coll.Drop(ctx) }
	deleteOf = func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.DeleteOne(ctx, byID)) }
	changeOf = func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, inc).Err()
	}
)

func insertOne(document any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		_, err := s.coll.InsertOne(ctx, document)
		return nil, err
	}
}

func insertMany(documents any) call {
	return func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.InsertMany(ctx, documents)) }
}

func unordered(documents []any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false)))
	}
}

func findOne(filter any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		var found bson.Raw
		err := s.coll.FindOne(ctx, filter).Decode(&found)
		return found, err
	}
}

func find(o *options.FindOptionsBuilder) call {
	return func(ctx context.Context, s *stage) (any, error) {
		cursor, err := s.coll.Find(ctx, bson.D{}, o)
		if err != nil {
			return nil, err
		}
		return nil, cursor.Close(ctx)
	}
}

// all reads four documents in two batches.
func all(ctx context.Context, s *stage) (any, error) {
	if err := s.set.Insert("test.c", bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 3}}, bson.D{{Key: "_id", Value: 4}}); err != nil {
		return nil, err
	}
	cursor, err := s.coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
	if err != nil {
		return nil, err
	}
	n := 0
	for cursor.Next(ctx) {
		n++
	}
	return n, cursor.Err()
}

// closeEarly closes a cursor that the server keeps.
func closeEarly(ctx context.Context, s *stage) (any, error) {
	if err := s.set.Insert("test.c", bson.D{{Key: "_id", Value: 2}}); err != nil {
		return nil, err
	}
	cursor, err := s.coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(1))
	if err != nil {
		return nil, err
	}
	return nil, cursor.Close(ctx)
}

func updateOne(filter, update any) call {
	return func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.UpdateOne(ctx, filter, update)) }
}

func replaceOne(filter, document any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.ReplaceOne(ctx, filter, document))
	}
}

func runCommand(command any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		return nil, s.db.RunCommand(ctx, command).Err()
	}
}

func command(pairs ...any) bson.D {
	var d bson.D
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

func huge(id any, n int) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "text", Value: strings.Repeat("x", n)}}
}

func text(n int) bson.D { return bson.D{{Key: "text", Value: strings.Repeat("x", n)}} }

const mib = 1 << 20

// show2 makes a result of a driver's typed result.
func show2[T any](result *T, err error) (any, error) {
	if result == nil {
		return nil, err
	}
	return show(*result), err
}

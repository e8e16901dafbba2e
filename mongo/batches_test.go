package mongo

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

func twoStatements(ctx context.Context) *batches {
	b := newBatches(ctx, &Collection{}, true)
	b.statements = []statement{{kind: updateOneKind, model: 0}, {kind: updateOneKind, model: 1}}
	b.request = func(int) WriteModel { return &UpdateOneModel{} }
	return b
}

// The index of a write error comes from a reply, so it may have any value.
func TestAWriteErrorWithAnInvalidIndexIsRefused(t *testing.T) {
	for _, index := range []int{-1, 2, 1 << 30} {
		b := twoStatements(t.Context())
		refused := BulkWriteException{WriteErrors: []BulkWriteError{{WriteError: WriteError{Index: index, Code: 11000}}}}
		goOn, err := b.note(refused, 0, 2)
		var e BulkWriteException
		if goOn || !errors.As(err, &e) || len(b.problems.WriteErrors) != 1 || b.problems.WriteErrors[0].Request != nil {
			t.Errorf("index %d: %t, %v", index, goOn, err)
		}
	}
}

func TestAnUpsertedIDWithAnInvalidIndexIsRefused(t *testing.T) {
	for index, valid := range map[int]bool{-1: false, 0: true, 1: true, 2: false, 1 << 30: false} {
		body, err := bson.Marshal(bson.D{{Key: "ok", Value: 1}, {Key: "upserted", Value: bson.A{
			bson.D{{Key: "index", Value: index}, {Key: "_id", Value: "x"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		var reply operation.Reply
		if err := reply.Parse(body); err != nil {
			t.Fatal(err)
		}
		if err := twoStatements(t.Context()).command(0, 2).Accept(&reply); (err == nil) != valid {
			t.Errorf("index %d: %v", index, err)
		}
	}
}

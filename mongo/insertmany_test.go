package mongo

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The index of a write error comes from a reply, so it may have any value.
func TestAWriteErrorWithAnInvalidIndexIsRefused(t *testing.T) {
	for _, index := range []int{-1, 2, 1 << 30} {
		m, err := (&Collection{}).newInsertMany([]bson.D{{}, {}}, &options.InsertManyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m.done = 2
		refused := BulkWriteException{WriteErrors: []BulkWriteError{{WriteError: WriteError{Index: index, Code: 11000}}}}
		if _, fatal := m.note(refused, 0, 2); fatal == nil {
			t.Errorf("index %d is accepted", index)
		}
		_, err = m.result(t.Context(), m.problems)
		var bulk BulkWriteException
		if !errors.As(err, &bulk) || len(bulk.WriteErrors) != 1 || bulk.WriteErrors[0].Request != nil {
			t.Errorf("index %d: %v", index, err)
		}
	}
}

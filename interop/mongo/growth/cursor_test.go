package growth

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
)

// parts is in how many parts the long cursor is measured.
const parts = 10

// longCursor has the cost of a document in each tenth of a cursor's documents.
func longCursor(t *testing.T, w *world) []series {
	documents := 100_000
	if whole() {
		documents = 10_000_000
	}
	c := w.connect(t, alone).Database(database).Collection(endless)
	var cursor *mongo.Cursor
	tenth := documents / parts
	s := series{name: "document of a cursor, its place"}
	for i := range parts {
		s.sizes = append(s.sizes, (i+1)*tenth)
	}
	s.cost = func(t *testing.T, size int) float64 {
		if size == tenth {
			var err error
			if cursor, err = c.Find(context.Background(), bson.D{{Key: "documents", Value: documents}}); err != nil {
				t.Fatal(err)
			}
		}
		cost := cpuOfEach(t, tenth, func() error { return readSome(cursor, tenth) })
		if size == documents && (cursor.Next(context.Background()) || cursor.Err() != nil) {
			t.Fatalf("the cursor goes on after %d documents: %v", documents, cursor.Err())
		}
		return cost
	}
	return []series{s}
}

// readSome reads and decodes the next n documents.
func readSome(cursor *mongo.Cursor, n int) error {
	for i := range n {
		if !cursor.Next(context.Background()) {
			return fmt.Errorf("the cursor ended after %d documents: %w", i, cursor.Err())
		}
		var d inserted
		if err := cursor.Decode(&d); err != nil {
			return err
		}
		if d.Age != 36 {
			return fmt.Errorf("document %d is %+v", i, d)
		}
	}
	return nil
}

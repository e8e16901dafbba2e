package growth

import (
	"context"
	"fmt"
	"testing"
)

// inserted is a document of a batch.
type inserted struct {
	Name string `bson:"name"`
	Age  int32  `bson:"age"`
}

// batches has the cost of a document of an InsertMany. The cost of an operation itself, which is that of an InsertMany of one
// document without it, is subtracted.
func batches(t *testing.T, w *world) []series {
	sizes, total := []int{10, 100, 1_000, 10_000}, 20_000
	if whole() {
		sizes, total = append(sizes, 100_000, 1_000_000), 1_000_000
	}
	c := w.connect(t, alone).Database(database).Collection("inserted")
	documents := make([]inserted, sizes[len(sizes)-1])
	for i := range documents {
		documents[i] = inserted{"Ada Lovelace", int32(i)}
	}
	insert := func(t *testing.T, size, times int) float64 {
		return each(t, times, func() error {
			for range times {
				r, err := c.InsertMany(context.Background(), documents[:size])
				if err != nil {
					return err
				}
				if len(r.InsertedIDs) != size {
					return fmt.Errorf("%d documents of %d were inserted", len(r.InsertedIDs), size)
				}
			}
			return nil
		})
	}
	return []series{{"document of an InsertMany", sizes, func(t *testing.T, size int) float64 {
		return (insert(t, size, max(1, total/size)) - insert(t, 1, total/50)) / float64(size-1)
	}}}
}

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

// smallBatch is the size whose cost is subtracted: what an operation itself costs is most of it.
const smallBatch = 10

// batches has the cost of a document of an InsertMany, above the smallest size. A first InsertMany that is not measured fills the
// pools of memory, so that each size finds them as it leaves them.
func batches(t *testing.T, w *world) []series {
	sizes, total := []int{1_000, 10_000}, 20_000
	if whole() {
		sizes, total = append(sizes, 100_000, 1_000_000), 1_000_000
	}
	c := w.connect(t, alone).Database(database).Collection("inserted")
	documents := make([]inserted, sizes[len(sizes)-1])
	for i := range documents {
		documents[i] = inserted{"Ada Lovelace", int32(i)}
	}
	insert := func(size, times int) error {
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
	}
	return []series{{"document of an InsertMany", sizes, smallBatch, func(t *testing.T, size int) float64 {
		if err := insert(size, 1); err != nil {
			t.Fatal(err)
		}
		times := max(2, min(total/size, total/50))
		return cpuOfEach(t, times, func() error { return insert(size, times) })
	}}}
}

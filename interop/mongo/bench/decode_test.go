package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/mongo"
)

type (
	orderAddress struct {
		Street string `bson:"street"`
		City   string `bson:"city"`
		Zip    string `bson:"zip"`
	}
	orderLine struct {
		Product string  `bson:"product"`
		Count   int32   `bson:"count"`
		Price   float64 `bson:"price"`
	}
	// order is the nested document.
	order struct {
		ID       bson.ObjectID     `bson:"_id"`
		Customer string            `bson:"customer"`
		Address  orderAddress      `bson:"address"`
		Billing  *orderAddress     `bson:"billing"`
		Lines    []orderLine       `bson:"lines"`
		Tags     []string          `bson:"tags"`
		Extra    map[string]string `bson:"extra"`
		Created  time.Time         `bson:"created"`
		Shipped  *time.Time        `bson:"shipped"`
		Version  int64             `bson:"version"`
		Total    float64           `bson:"total"`
		Priority int               `bson:"priority"`
	}
)

// shape is a kind of documents that are decoded: a collection, and a slice that All decodes it into.
type shape struct {
	name       string
	collection string
	target     func() any
	check      func(results any) bool // the last document is the stored one
}

func shapeOf[T any](name, collection string, right func(last T) bool) shape {
	return shape{name, collection, func() any { return new([]T) }, func(results any) bool {
		all := *results.(*[]T)
		return len(all) == canned.BatchSize && right(all[len(all)-1])
	}}
}

func shapes() []shape {
	return []shape{
		shapeOf("flat struct", canned.FlatBatch, func(a account) bool { return a.check() == nil }),
		shapeOf("nested struct", canned.NestedBatch, func(o order) bool {
			return o.ID == canned.ID && o.Billing.Street == "2 Side Street" && o.Lines[2].Product == "card" &&
				o.Extra["note"] == "by the door" && !o.Shipped.IsZero() && o.Priority == 2
		}),
		shapeOf("bson.D", canned.NestedBatch, func(d bson.D) bool {
			return len(d) == 12 && d[11].Value == int32(2) && len(d[4].Value.(bson.A)) == 3 && d[2].Value.(bson.D)[0].Value == "1 Main Street"
		}),
		shapeOf("bson.M", canned.NestedBatch, func(m bson.M) bool {
			return len(m) == 12 && m["priority"] == int32(2) && len(m["lines"].(bson.A)) == 3 && m["address"].(bson.D)[0].Value == "1 Main Street"
		}),
	}
}

// finder finds all documents of a collection and decodes them into results.
type finder func(ctx context.Context, collection string, results any) error

func finders(t *testing.T, server canned.Addresses, through transport) (ours, theirs finder) {
	t.Helper()
	our, err := mongo.Connect(through(server, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = our.Disconnect(context.Background()) })
	their, err := official.Connect(through(server, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = their.Disconnect(context.Background()) })
	ours = func(ctx context.Context, collection string, results any) error {
		cursor, err := our.Database(canned.Database).Collection(collection).Find(ctx, bson.D{})
		if err != nil {
			return err
		}
		return cursor.All(ctx, results)
	}
	theirs = func(ctx context.Context, collection string, results any) error {
		cursor, err := their.Database(canned.Database).Collection(collection).Find(ctx, bson.D{})
		if err != nil {
			return err
		}
		return cursor.All(ctx, results)
	}
	return ours, theirs
}

var errWrongBatch = errors.New("the documents that came back are not the stored ones")

// decoding returns the operation that finds and decodes one batch.
func (s shape) decoding(find finder) operation {
	return func(ctx context.Context, _ int) error {
		results := s.target()
		if err := find(ctx, s.collection, results); err != nil {
			return err
		}
		if !s.check(results) {
			return fmt.Errorf("%w: %s", errWrongBatch, s.name)
		}
		return nil
	}
}

// The most that our client may cost to decode a batch, as fractions of the official driver's cost.
const (
	decodeBar            = 0.25
	decodeAllocationsBar = 0.6
)

// TestDecoding measures the client's CPU time and its allocations to find 1,000 documents and to decode them by
// Cursor.All, as fractions of the official driver's. The figures are the worst shape's.
func TestDecoding(t *testing.T) {
	skipIfRace(t)
	ours, theirs := finders(t, startServer(t), plainly)
	printHead()
	var ratios, allocationRatios []float64
	for _, s := range shapes() {
		p := compareBatches(t, s.decoding(ours), s.decoding(theirs), batchesInTurn)
		p.print(s.name)
		ratios, allocationRatios = append(ratios, p.ratio(cpu)), append(allocationRatios, p.ratio(allocations))
	}
	holdTimeBar(t, "decode1000-vs-official-cpu", slices.Max(ratios), decodeBar)
	holdBar(t, "decode1000-vs-official-allocs", slices.Max(allocationRatios), decodeAllocationsBar)
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/mongo"
)

// decodeBar is the most that our client may cost to decode a batch, as a fraction of the official driver.
const decodeBar = 0.4

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

func finders(t *testing.T, address string) (ours, theirs finder) {
	t.Helper()
	our, err := mongo.Connect(clientOptions(address, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = our.Disconnect(context.Background()) })
	their, err := official.Connect(clientOptions(address, 1))
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

const (
	decodeRounds  = 9
	batchesInTurn = 15
)

// TestDecoding measures the client's CPU time to find 1,000 documents and to decode them by Cursor.All, as a fraction of
// the official driver's. Each round measures ours, then the official driver; a shape's ratio is the median of nine
// rounds. The figure is the worst shape's.
func TestDecoding(t *testing.T) {
	skipIfRace(t)
	ours, theirs := finders(t, startServer(t))
	worst := 0.0
	fmt.Printf("%-14s %22s %22s %8s\n", "", "ours, per document", "official", "ratio")
	for _, s := range shapes() {
		var ourCosts, theirCosts []cost
		var ratios []float64
		for range decodeRounds {
			our, their := batchCost(t, s.decoding(ours)), batchCost(t, s.decoding(theirs))
			ourCosts, theirCosts = append(ourCosts, our), append(theirCosts, their)
			ratios = append(ratios, cpu(our)/cpu(their))
		}
		ratio := median(ratios)
		fmt.Printf("%-14s %22s %22s %8.2f\n", s.name, perDocument(ourCosts), perDocument(theirCosts), ratio)
		worst = max(worst, ratio)
	}
	fmt.Printf("figure decode1000-vs-official-cpu %.2f\n", worst)
	if worst <= 0 || worst > decodeBar {
		t.Errorf("decode1000-vs-official-cpu is %.2f; it must be above 0 and at most %.2f", worst, decodeBar)
	}
}

// batchCost returns what one document of a batch costs.
func batchCost(t *testing.T, op operation) cost {
	t.Helper()
	one := load{workers: 1}
	one.run(t, op, 1)
	before := usage(t, nil)
	n := float64(one.run(t, op, batchesInTurn) * canned.BatchSize)
	after := usage(t, nil)
	return cost{cpu: time.Duration(float64(after.cpu-before.cpu) / n), allocations: (after.allocations - before.allocations) / n}
}

func perDocument(costs []cost) string {
	r := result{costs: map[string][]cost{"": costs}}
	return fmt.Sprintf("%v, %.1f allocs", time.Duration(r.typical(cpu, "")), r.typical(allocations, ""))
}

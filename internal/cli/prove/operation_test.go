package prove

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
)

// command returns the update command that a driver sends for an update.
func command(t *testing.T, u Update) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(bson.D{
		{Key: "update", Value: "c"},
		{Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: u.Filter}, {Key: "u", Value: u.Change}, {Key: "upsert", Value: u.Upsert}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPartOfCommand(t *testing.T) {
	id := OpID{Writer: 3, Index: 17}
	for _, c := range []struct {
		name string
		u    Update
		step Step
		key  string // in the journal; only a step that applies the operation has one
	}{
		{"an increment", increment(id, "d"), FirstStep, "w3_17"},
		{"the first of two steps", announce(id, "d"), FirstStep, ""},
		{"the second of two steps", settle(id, "d"), SecondStep, "w3_17"},
	} {
		raw := command(t, c.u)
		if p, ok := partOfCommand(raw); !ok || p != (part{id, c.step}) {
			t.Errorf("%s: recognised as %v, %t", c.name, p, ok)
		}
		if key := journalKey("update", raw.Lookup("updates", "0").Document()); key != c.key {
			t.Errorf("%s: journal key %q, want %q", c.name, key, c.key)
		}
	}
	if p, ok := partOfCommand(command(t, Update{Filter: bson.D{}, Change: bson.D{{Key: "$inc", Value: bson.D{{Key: "x", Value: 1}}}}})); ok {
		t.Errorf("another update was recognised as %v", p)
	}
}

// noting notes the updates of package mongo/once, and answers that each matched.
type noting struct {
	once.Commands
	updates []Update
}

func (n *noting) UpdateOne(_ context.Context, filter, change any, _ ...options.Lister[options.UpdateOneOptions]) (*official.UpdateResult, error) {
	n.updates = append(n.updates, Update{Filter: decode(filter), Change: decode(change)})
	return &official.UpdateResult{MatchedCount: 1, Acknowledged: true}, nil
}

// decode returns a document that package mongo/once sends, which is a bson.D or its bytes.
func decode(document any) bson.D {
	if raw, ok := document.(bson.Raw); ok {
		var d bson.D
		if err := bson.Unmarshal(raw, &d); err != nil {
			panic(err)
		}
		return d
	}
	return document.(bson.D)
}

func TestPartOfTheCommandsOfOnce(t *testing.T) {
	id, noted := OpID{Writer: 3, Index: 17}, &noting{}
	updates, err := once.New[*mongo.Cursor](passing[*mongo.Cursor]{noted, nil}, once.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := increment(id, "d")
	if _, err := updates.UpdateOne(t.Context(), u.Filter, u.Change, options.UpdateOne().SetUpsert(true)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		step Step
		key  string
	}{{FirstStep, ""}, {SecondStep, "w3_17"}} {
		raw := command(t, noted.updates[i])
		if p, ok := partOfCommand(raw); !ok || p != (part{id, want.step}) {
			t.Errorf("step %d is recognised as %v, %t", want.step, p, ok)
		}
		if key := journalKey("update", raw.Lookup("updates", "0").Document()); key != want.key {
			t.Errorf("step %d: journal key %q, want %q", want.step, key, want.key)
		}
	}
}

func TestNoMoreThan500OperationsShareADocument(t *testing.T) {
	for _, writers := range []int{1, 3, 4, 7, 500} {
		count := make(map[string]int)
		for w := range writers {
			for i := range 2000 / writers {
				count[mongoDocument(OpID{w, i}, writers)]++
			}
		}
		for document, n := range count {
			if n > MaxPerDocument {
				t.Errorf("%d writers: %s has %d operations", writers, document, n)
			}
		}
	}
}

func TestParseOpID(t *testing.T) {
	for _, s := range []string{"", "w", "w1", "1_2", "w1_", "w_1", "wx_1", "w1_2_3"} {
		if id, ok := parseOpID(s); ok {
			t.Errorf("%q is parsed as %v", s, id)
		}
	}
	if id, ok := parseOpID("w12_345"); !ok || id != (OpID{12, 345}) {
		t.Errorf("w12_345 is parsed as %v, %t", id, ok)
	}
}

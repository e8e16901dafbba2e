package defect_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

func TestAChangeThatIsMadeAgain(t *testing.T) {
	type m = bson.D
	doc := func(n int64, ops m) m {
		return m{{Key: "_id", Value: "d"}, {Key: "n", Value: n}, {Key: "ops", Value: ops}}
	}
	op := func(name string) bson.E { return bson.E{Key: name, Value: int64(1)} }
	for _, c := range []struct {
		name                         string
		current, before, after, want m
	}{
		{"a number grows by the same difference, and a new field is added", doc(7, m{op("a"), op("c")}), doc(5, m{op("a")}), doc(6, m{op("a"), op("b")}), doc(8, m{op("a"), op("c"), op("b")})},
		{"the first change of a document", doc(1, m{op("c")}), nil, doc(1, m{op("b")}), doc(2, m{op("c"), op("b")})},
		{"nothing else changes", m{{Key: "list", Value: "old"}}, m{{Key: "list", Value: "old"}}, m{{Key: "list", Value: "new"}}, m{{Key: "list", Value: "old"}}},
	} {
		raw := func(d m) bson.Raw {
			if d == nil {
				return nil
			}
			b, err := bson.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		got, err := defect.ChangedAgain(raw(c.current), raw(c.before), raw(c.after))
		if err != nil || got.String() != raw(c.want).String() {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

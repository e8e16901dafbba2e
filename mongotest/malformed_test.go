package mongotest_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A value whose inside does not fit is refused or ends the connection, wherever it stands, and harms no other.
func TestMalformedValuesHarmNobody(t *testing.T) {
	v := &victim{mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())}
	for _, command := range []string{
		`{"insert": "c", "documents": [{"_id": 1, "a": "HERE"}], "$db": "test"}`,
		`{"find": "c", "filter": {"a": "HERE"}, "$db": "test"}`,
		`{"find": "c", "filter": {"a": {"$size": "HERE"}}, "$db": "test"}`,
		`{"find": "c", "sort": {"a": "HERE"}, "$db": "test"}`,
		`{"find": "c", "hint": {"a": "HERE"}, "collation": {"locale": "HERE"}, "$db": "test"}`,
		`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": "HERE"}}}], "$db": "test"}`,
		`{"aggregate": "c", "pipeline": [{"$group": {"_id": 1, "x": {"$top": {"n": "HERE"}}}}], "cursor": {}, "$db": "test"}`,
		`{"aggregate": 1, "pipeline": [{"$documents": [{"a": {"$add": [1, "HERE"]}}]}], "cursor": {}, "$db": "test"}`,
		`{"createIndexes": "c", "indexes": [{"key": {"a": "HERE"}, "name": "a"}], "$db": "test"}`,
		`{"find": "c", "let": {"x": "HERE"}, "comment": "HERE", "$db": "test"}`,
		`{"ping": "HERE", "$db": "test"}`,
	} {
		for name, bad := range map[string]bson.RawValue{
			"code with a scope": {Type: bson.TypeCodeWithScope, Value: []byte("\x0e\x00\x00\x00\x7f\x00\x00\x00\x00\x05\x00\x00\x00\x00")},
			"old binary data":   {Type: bson.TypeBinary, Value: []byte("\x02\x00\x00\x00\x02ab")},
			"a symbol":          {Type: bson.TypeSymbol, Value: []byte("\x01\x00\x00\x00x")},
		} {
			body := must[[]byte](t)(bson.Marshal(replacedBy(j("%s", command), bad)))
			if answer := v.exchange(t, opMsg(1, body)); answer == nil {
				continue
			} else if m, err := wire.ParseMsg(answer); err != nil || bson.Raw(m.Body).Validate() != nil {
				t.Errorf("%s with %s is answered %x: %v", command, name, answer, err)
			}
		}
	}
}

// replacedBy returns a document with a value instead of each "HERE".
func replacedBy(v any, bad bson.RawValue) any {
	switch v := v.(type) {
	case bson.D:
		for i := range v {
			v[i].Value = replacedBy(v[i].Value, bad)
		}
	case bson.A:
		for i := range v {
			v[i] = replacedBy(v[i], bad)
		}
	case string:
		if v == "HERE" {
			return bad
		}
	}
	return v
}

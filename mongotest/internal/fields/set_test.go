package fields

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func TestTheFieldsOfADocumentAreChecked(t *testing.T) {
	set := &Set{
		name: "c", required: []string{"q"}, numbers: "long, int", truths: "bool, int",
		kinds: kindsOf(map[Type]string{anObject: "q", aCount: "skip", aTruth: "multi", aText: "name", objects: "list"}),
	}
	q := bson.E{Key: "q", Value: bson.D{}}
	for _, test := range []struct {
		name string
		doc  bson.D
		code mongoerr.Code
		want string
	}{
		{"each value is read as its kind", bson.D{q, {Key: "skip", Value: 2.9}, {Key: "multi", Value: 1}}, 0, "{ q: {}, skip: 2, multi: true }"},
		{"null stands for a field that is not there", bson.D{q, {Key: "name", Value: nil}}, 0, "{ q: {} }"},
		{"nulls in an array are as good as nothing", bson.D{q, {Key: "list", Value: bson.A{nil, bson.D{}}}}, 0, "{ q: {}, list: [ {} ] }"},
		{"an unknown field", bson.D{q, {Key: "limit", Value: 1}}, mongoerr.UnknownField, "BSON field 'c.limit' is an unknown field."},
		{"a required field that is missing", bson.D{}, mongoerr.MissingField, "BSON field 'c.q' is missing but a required field"},
		{"a value of another type", bson.D{q, {Key: "name", Value: 1}}, mongoerr.TypeMismatch, "BSON field 'c.name' is the wrong type 'int', expected type 'string'"},
		{"a text in the place of a number", bson.D{q, {Key: "skip", Value: "1"}}, mongoerr.TypeMismatch, "BSON field 'c.skip' is the wrong type 'string', expected types '[long, int]'"},
		{"a negative count", bson.D{q, {Key: "skip", Value: -1}}, mongoerr.BadValue, "BSON field 'skip' value must be >= 0, actual value '-1'"},
	} {
		raw, err := bson.Marshal(test.doc)
		if err != nil {
			t.Fatal(err)
		}
		at, read := wire.BeginDocument(nil)
		err = set.Document(raw, func(e *wire.Element) error {
			read = wire.AppendElement(read, *e)
			return nil
		})
		got, code := query.DocumentText(wire.EndDocument(read, at)), mongoerr.Code(0)
		if err != nil {
			got, code = err.Error(), mongoerr.CodeOf(err)
		}
		if got != test.want || code != test.code {
			t.Errorf("%s: %d %s; want %d %s", test.name, code, got, test.code, test.want)
		}
	}
}

func TestOlderNamesOfCommandsMeanTheSameFields(t *testing.T) {
	if Of("findandmodify") == nil || Of("findandmodify") != Of("findAndModify") {
		t.Error("findandmodify has other fields than findAndModify")
	}
	if Of("nonsense") != nil {
		t.Error("a command that there is not has fields")
	}
}

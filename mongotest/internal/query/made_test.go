package query_test

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// made returns {a: 1, <the place of b>, c: {<the place of d>}, e: [{f: 1, <the place of g>}]} as a stage makes it, and without
// the places.
func made(t *testing.T) (marked, plain query.Value) {
	t.Helper()
	document := func(write func(dst []byte) []byte) query.Value {
		at, dst := query.BeginMade(nil)
		return query.Document(wire.EndDocument(write(dst), at))
	}
	one, missing := query.Int32(1), query.Value{}
	inner := document(func(dst []byte) []byte { return query.AppendField(dst, "d", missing) })
	element := document(func(dst []byte) []byte {
		return query.AppendField(query.AppendField(dst, "f", one), "g", missing)
	})
	at, list := wire.BeginDocument(nil)
	list = wire.EndDocument(wire.AppendDocument(list, "0", element.Data), at)
	marked = document(func(dst []byte) []byte {
		dst = query.AppendField(query.AppendField(dst, "a", one), "b", missing)
		dst = query.AppendField(dst, "c", inner)
		return query.AppendField(dst, "e", query.Value{Type: bson.TypeArray, Data: list})
	})
	data, err := bson.Marshal(bson.D{{Key: "a", Value: 1}, {Key: "c", Value: bson.D{}}, {Key: "e", Value: bson.A{bson.D{{Key: "f", Value: 1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return marked, query.Document(data)
}

func TestPlacesAreSeenByNoOne(t *testing.T) {
	marked, plain := made(t)
	if got := query.Plain(marked.Data); !bytes.Equal(got, plain.Data) {
		t.Errorf("Plain: got %s, want %s", bson.Raw(got), bson.Raw(plain.Data))
	}
	if query.Compare(marked, plain) != 0 || query.Compare(plain, marked) != 0 {
		t.Error("they are not equal")
	}
	if !bytes.Equal(query.AppendKey(nil, marked), query.AppendKey(nil, plain)) {
		t.Error("their keys differ")
	}
	if got, want := marked.String(), plain.String(); got != want {
		t.Errorf("String: got %s, want %s", got, want)
	}
	if got, want := query.Count(marked.Data), query.Count(plain.Data); got != want {
		t.Errorf("Elements: got %d, want %d", got, want)
	}
	if v := query.Lookup(marked.Data, "b"); !v.Missing() {
		t.Errorf("Lookup: got %s, want nothing", v)
	}
}

func TestFieldsShowPlaces(t *testing.T) {
	marked, plain := made(t)
	for _, test := range []struct {
		doc  []byte
		want string
	}{{marked.Data, "a b! c e "}, {plain.Data, "a c e "}} {
		got := ""
		for _, f := range query.ObjectOf(test.doc) {
			got += f.Name
			if f.Value.Missing() {
				got += "!"
			}
			got += " "
		}
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

package bsoncodec

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestADecoderDecodesEachOfManyDocumentsAsTheGeneralDecoder(t *testing.T) {
	types := append([]reflect.Type{
		reflect.TypeFor[bson.D](), reflect.TypeFor[bson.M](), reflect.TypeFor[map[string]string](), reflect.TypeFor[struct{ A, B any }](),
	}, targetTypes...)
	r := seeded(8)
	var d Decoder
	for range rounds(3000) {
		typ := pick(r, types...)
		doc := r.bytesFor(typ)
		if typ.Kind() != reflect.Struct {
			doc = must(t, r.document([]string{"a", "b", "ab", "", strings.Repeat("long", 9), "_id"}, 3))
		}
		target := func() any { return reflect.New(typ).Interface() }
		if diff := compareDecoders(doc, target, map[string]func([]byte, any) error{"Decoder": d.Decode}); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestADocumentIsNotChangedByTheNextOne(t *testing.T) {
	var dec Decoder
	var results []bson.D
	const n = 20
	decode := func(i int) (v bson.D) {
		doc := must(t, d("number", int32(i), "inner", d("a", bson.A{d("b", int32(i))})))
		if err := dec.Decode(doc, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := range n {
		results = append(results, decode(i))
	}
	for i, got := range results {
		want := d("number", int32(i), "inner", d("a", bson.A{d("b", int32(i))}))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v; want %v", got, want)
		}
	}
}

func TestTheMemoryOfADecoderIsLimited(t *testing.T) {
	var many, few bson.D
	for i := range 3 * longestOrder {
		many = append(many, bson.E{Key: fmt.Sprint(i), Value: int32(i)})
	}
	few = d("a", "b", strings.Repeat("x", longestSharedKey+1), 1)
	var dec Decoder
	for _, want := range []bson.D{many, few, many} {
		var got bson.D
		if err := dec.Decode(must(t, want), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || got[len(got)-1].Key != want[len(want)-1].Key {
			t.Errorf("got %d elements; want %d", len(got), len(want))
		}
	}
	if n := len(dec.mem.order); n != longestOrder {
		t.Errorf("the order has %d keys; want %d", n, longestOrder)
	}
	for i, e := range dec.mem.unfinished[:cap(dec.mem.unfinished)] {
		if e.Value != nil {
			t.Fatalf("the memory still has element %d, %v", i, e)
		}
	}
	for i, key := range dec.mem.order {
		if len(key) > longestSharedKey {
			t.Errorf("key %d has %d bytes", i, len(key))
		}
	}
}

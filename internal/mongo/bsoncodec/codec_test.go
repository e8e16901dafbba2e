package bsoncodec

import (
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func rounds(t *testing.T, n int) int {
	t.Helper()
	if testing.Short() {
		return n / 10
	}
	return n
}

// Into an empty target, and into one that has values.
func TestDocumentsAreDecodedAsByTheGeneralDecoder(t *testing.T) {
	for _, typ := range targetTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := seeded(1)
			for i := range rounds(t, 1000) {
				doc := r.bytesFor(typ)
				if diff := compareDecoding(doc, func() any { return reflect.New(typ).Interface() }); diff != "" {
					t.Fatalf("empty target: %s", diff)
				}
				before := func() any { return seeded(uint64(i)).filled(typ, 3).Addr().Interface() }
				if diff := compareDecoding(doc, before); diff != "" {
					t.Fatalf("target with values: %s", diff)
				}
			}
		})
	}
}

func TestValuesAreEncodedAsByTheGeneralEncoder(t *testing.T) {
	for _, typ := range targetTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := seeded(2)
			for range rounds(t, 1000) {
				v := r.filled(typ, 4)
				for _, arg := range []any{v.Interface(), v.Addr().Interface()} {
					if diff := compareEncoding(arg); diff != "" {
						t.Fatal(diff)
					}
				}
			}
		})
	}
}

func TestNewTypesAreEncodedAndDecodedAsByTheGeneralCodec(t *testing.T) {
	r := seeded(3)
	for i := range rounds(t, 2000) {
		typ := r.structType(3)
		for j := range 3 {
			v := r.filled(typ, 4)
			for _, arg := range []any{v.Interface(), v.Addr().Interface()} {
				if diff := compareEncoding(arg); diff != "" {
					t.Fatal(diff)
				}
			}
			doc := r.bytesFor(typ)
			if diff := compareDecoding(doc, func() any { return reflect.New(typ).Interface() }); diff != "" {
				t.Fatalf("empty target: %s", diff)
			}
			before := func() any { return seeded(uint64(i*3+j)).filled(typ, 3).Addr().Interface() }
			if diff := compareDecoding(doc, before); diff != "" {
				t.Fatalf("target with values: %s", diff)
			}
		}
	}
}

func TestElementsAreEncodedAsByTheGeneralEncoder(t *testing.T) {
	r := seeded(4)
	for range rounds(t, 1000) {
		v := r.filled(pick(r, targetTypes...), 3).Interface()
		for _, document := range []any{bson.D{{Key: "key", Value: v}}, bson.M{"key": v}, map[string][]any{"key": {v, v}}} {
			if diff := compareEncoding(document); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

func TestValuesAreDecodedAsByTheGeneralDecoder(t *testing.T) {
	r := seeded(6)
	for range rounds(t, 5000) {
		doc := r.bytesFor(reflect.TypeFor[bson.D]())
		v := bson.RawValue{Type: bson.Type(r.IntN(256)), Value: doc}
		if element, err := bson.Raw(doc).IndexErr(0); err == nil && r.IntN(4) > 0 {
			v = element.Value()
		}
		want := observe(func() (any, error) {
			var x any
			err := bson.UnmarshalValue(v.Type, v.Value, &x)
			return x, err
		})
		if got := observe(func() (any, error) { return DecodeValue(v.Type, v.Value) }); !got.equal(want) {
			t.Fatalf("%v %x\ngot  %v\nwant %v", v.Type, v.Value, got, want)
		}
	}
}

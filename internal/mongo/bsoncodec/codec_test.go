package bsoncodec

import (
	"flag"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var allValues = flag.Bool("all-values", false, "compare ten times as many random values")

// rounds returns how many of n random values a test compares.
func rounds(n int) int {
	if *allValues {
		return n
	}
	return n / 10
}

// Into an empty target, and into one that has values.
func TestDocumentsAreDecodedAsByTheGeneralDecoder(t *testing.T) {
	for _, typ := range targetTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := seeded(1)
			for i := range rounds(700) {
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

// Every field gets a value of every BSON type, in an empty struct and in some that have values.
func TestEachFieldIsDecodedAsByTheGeneralDecoder(t *testing.T) {
	values := []any{bson.A{}, bson.D{}, d("a", nil), d("a", int32(1)), bson.A{nil}, bson.A{int32(1)}, bson.A{"x"}, bson.A{d("a", int32(1))}}
	for seed := range uint64(rounds(80)) {
		values = append(values, seeded(seed).value(0))
	}
	for _, typ := range targetTypes {
		if typ.Kind() != reflect.Struct {
			continue
		}
		t.Run(typ.String(), func(t *testing.T) {
			for i, key := range keysOf(typ) {
				for j, v := range values {
					doc := must(t, d(key, v))
					if diff := compareDecoding(doc, func() any { return reflect.New(typ).Interface() }); diff != "" {
						t.Fatalf("empty target: %s", diff)
					}
					if (i+j)%3 != 0 && !*allValues {
						continue
					}
					before := func() any { return seeded(uint64(i*len(values)+j)).filled(typ, 3).Addr().Interface() }
					if diff := compareDecoding(doc, before); diff != "" {
						t.Fatalf("target with values: %s", diff)
					}
				}
			}
		})
	}
}

func TestValuesAreEncodedAsByTheGeneralEncoder(t *testing.T) {
	for _, typ := range targetTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := seeded(2)
			for range rounds(700) {
				v := r.filled(typ, 4)
				for _, arg := range []any{v.Interface(), v.Addr().Interface()} {
					if diff := compareEncoding(arg); diff != "" {
						t.Fatal(diff)
					}
				}
				if diff := compareElementEncoding(v); diff != "" {
					t.Fatalf("element of a slice: %s", diff)
				}
			}
		})
	}
}

func TestNewTypesAreEncodedAndDecodedAsByTheGeneralCodec(t *testing.T) {
	for seed := range uint64(rounds(1500)) {
		compareNewType(t, seed)
	}
}

// compareNewType makes a struct type and compares the encoding of values of it, and the decoding of documents into it.
func compareNewType(t *testing.T, seed uint64) {
	t.Helper()
	r := seeded(seed)
	typ := r.structType(3)
	for range 3 {
		v := r.filled(typ, 4)
		for _, arg := range []any{v.Interface(), v.Addr().Interface()} {
			if diff := compareEncoding(arg); diff != "" {
				t.Fatal(diff)
			}
		}
		if diff := compareElementEncoding(v); diff != "" {
			t.Fatalf("element of a slice: %s", diff)
		}
		doc := r.bytesFor(typ)
		if diff := compareDecoding(doc, func() any { return reflect.New(typ).Interface() }); diff != "" {
			t.Fatalf("empty target: %s", diff)
		}
		contents := r.Uint64()
		before := func() any { return seeded(contents).filled(typ, 3).Addr().Interface() }
		if diff := compareDecoding(doc, before); diff != "" {
			t.Fatalf("target with values: %s", diff)
		}
	}
}

func TestElementsAreEncodedAsByTheGeneralEncoder(t *testing.T) {
	r := seeded(4)
	for range rounds(700) {
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
	for range rounds(5000) {
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

func TestTheBufferOfALargeDocumentIsNotKept(t *testing.T) {
	if _, err := appendGeneral(nil, bson.D{{Key: "b", Value: make([]byte, keptBuffer+1)}}); err != nil {
		t.Fatal(err)
	}
	if next := generalEncoders.Get().(*generalEncoder); cap(next.out) > keptBuffer {
		t.Errorf("a buffer of %d bytes was kept", cap(next.out))
	}
}

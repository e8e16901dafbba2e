package bsoncodec

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The general codec makes allocations for every value that it gets. So the numbers of allocations show that the common
// types do not need it.

// inField returns a pointer to a new struct whose only field has this type, with v in the field if v is not nil.
func inField(t reflect.Type, v any) reflect.Value {
	of := reflect.StructOf([]reflect.StructField{{Name: "V", Type: t}})
	p := reflect.New(of)
	if v != nil {
		p.Elem().Field(0).Set(reflect.ValueOf(v))
	}
	return p
}

func TestCommonTypesDoNotNeedTheGeneralCodec(t *testing.T) {
	number := 7
	for _, c := range []struct {
		v       any
		decoded float64 // allocations to decode it into its own type
		asAny   float64 // allocations to decode it into a variable of type any; -1 if the general codec may do it
	}{
		{"text", 1, 2},
		{"", 0, 1},
		{text("text"), 1, 2},
		{true, 0, 0},
		{toggle(true), 0, 0},
		{1000, 0, 1},
		{int8(100), 0, 1},
		{int16(1000), 0, 1},
		{int32(1000), 0, 1},
		{int64(1000), 0, 1},
		{uint(1000), 0, 1},
		{uint8(100), 0, 1},
		{uint16(1000), 0, 1},
		{uint32(1000), 0, 1},
		{uint64(1000), 0, 1},
		{float32(0.5), 0, 1},
		{1.5, 0, 1},
		{time.Second, 0, 1},
		{bson.ObjectID{1}, 0, 1},
		{time.UnixMilli(1000).UTC(), 0, 1},
		{bson.DateTime(1000), 0, 1},
		{bson.NewDecimal128(1, 2), 0, 1},
		{bson.Timestamp{T: 1, I: 2}, 0, 1},
		{[]byte("bytes"), 1, 2},
		{bson.Binary{Data: []byte("bytes")}, 1, 2},
		{bson.Raw{5, 0, 0, 0, 0}, 1, 2},
		{bson.RawValue{Type: bson.TypeBoolean, Value: []byte{1}}, 1, 0},
		{&number, 1, 0},
		{[]int{1, 2, 3}, 1, 2},
		{[]string{"a", "b"}, 3, 6},
		{[2]bool{true, false}, 0, 2},
		{bson.A{true, nil}, 1, 2},
		{[]any{true, nil}, 1, 2},
		{bson.D{{Key: "a", Value: true}}, 2, 3},
		{bson.M{"a": true}, 3, 3},
		{map[string]any{"a": true}, 3, 3},
		{map[string]string{"a": ""}, 5, 5},
		{map[text]int{"a": 1}, 5, 3},
		{Inner{A: 1}, 0, 4},
		{&Inner{A: 1}, 1, 4},
		{inlined{PtrInner: &PtrInner{}}, 1, -1},
		{[]Inner{{A: 1}, {A: 2}}, 1, -1},
		{node{Next: &node{}}, 1, -1},
	} {
		t.Run(fmt.Sprintf("%T", c.v), func(t *testing.T) {
			source := inField(reflect.TypeOf(c.v), c.v).Interface()
			doc := must(t, source)
			buffer := make([]byte, 0, 2*len(doc)+100)
			allocates(t, "encoding", encodingAllocations(c.v), func() error { _, err := Append(buffer, source); return err })
			target := inField(reflect.TypeOf(c.v), nil)
			allocates(t, "decoding", c.decoded, func() error {
				target.Elem().SetZero()
				return Decode(doc, target.Interface())
			})
			if c.asAny < 0 {
				return
			}
			var v struct{ V any }
			allocates(t, "decoding into any", c.asAny, func() error { v.V = nil; return Decode(doc, &v) })
		})
	}
}

// encodingAllocations are those of reading a map.
func encodingAllocations(v any) float64 {
	switch v.(type) {
	case map[string]string, map[text]int:
		return 3
	default:
		return 0
	}
}

func allocates(t *testing.T, what string, most float64, f func() error) {
	t.Helper()
	if n := testing.AllocsPerRun(20, func() {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}); n > most {
		t.Errorf("%s makes %v allocations; it may make %v", what, n, most)
	}
}

func TestAnUnknownFieldIsSkippedWithoutAnAllocation(t *testing.T) {
	doc := must(t, d("unknown", d("a", bson.A{"x", bson.Regex{Pattern: "p"}}), "a", 1))
	var v Inner
	allocates(t, "decoding", 0, func() error { return Decode(doc, &v) })
}

func TestTheGeneralEncoderIsUsedAgain(t *testing.T) {
	v := map[int]string{}
	buffer := make([]byte, 0, 100)
	allocates(t, "encoding", 4, func() error { _, err := Append(buffer, v); return err })
}

func TestADecoderAllocatesRepeatedKeysOnce(t *testing.T) {
	doc := must(t, d("a key of a document", true, "another key", bson.A{d("a key of a document", true)}))
	var decoder Decoder
	var v bson.D
	allocates(t, "decoding with shared keys", 5, func() error { v = nil; return decoder.Decode(doc, &v) })
	allocates(t, "decoding without", 8, func() error { v = nil; return Decode(doc, &v) })
	if v[0].Key != "a key of a document" || v[1].Key != "another key" {
		t.Error(v)
	}
}

package bsoncodec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func must(t *testing.T, v any) []byte {
	t.Helper()
	doc, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func d(pairs ...any) bson.D {
	out := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

// The errors have the general decoder's type and text, with the path to the value.
func TestErrorsOfDecodingAreThoseOfTheGeneralDecoder(t *testing.T) {
	for _, c := range []struct {
		name   string
		doc    any
		target func() any
	}{
		{"a string for a number", d("value", "x"), func() any { return new(node) }},
		{"a string deep inside", d("all", bson.A{d("next", d("value", "x"))}), func() any { return new(node) }},
		{"a number that is too large", d("i8", 128), func() any { return new(numbers) }},
		{"a negative number for an unsigned one", d("u8", -1), func() any { return new(numbers) }},
		{"a fraction for an integer", d("i", 2.5), func() any { return new(numbers) }},
		{"a double that loses digits", d("f32", 0.1), func() any { return new(numbers) }},
		{"NaN for an integer", d("i", math.NaN()), func() any { return new(numbers) }},
		{"a document for an array", d("lists", d("a", 1)), func() any { return new(node) }},
		{"an array that is too long", d("point", bson.A{1.0, 2.0, 3.0}), func() any { return new(node) }},
		{"a number for a document", d("next", 1), func() any { return new(node) }},
		{"an entry of a map", d("a", d("value", "x")), func() any { return new(map[string]node) }},
		{"a type's own method", d("decoder", true), func() any { return new(owners) }},
		{"a double key", d("x", 1), func() any { return new(duplicate) }},
		{"no pointer", d(), func() any { return flat{} }},
		{"a nil pointer", d(), func() any { return (*flat)(nil) }},
		{"nil", d(), func() any { return nil }},
		{"a value in an interface", d("any", "x"), func() any { return &node{Any: new(int)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := must(t, c.doc)
			want, got := bson.Unmarshal(doc, c.target()), Decode(doc, c.target())
			if want == nil || got == nil {
				t.Fatalf("%v, want the error %v", got, want)
			}
			if c.name != "a value in an interface" && (got.Error() != want.Error() || reflect.TypeOf(got) != reflect.TypeOf(want)) {
				t.Errorf("\ngot  %T %v\nwant %T %v", got, got, want, want)
			}
		})
	}
}

func TestErrorsOfEncodingAreThoseOfTheGeneralEncoder(t *testing.T) {
	for name, v := range map[string]any{
		"nil":                             nil,
		"no document":                     7,
		"a nil D":                         bson.D(nil),
		"a nil pointer":                   (*flat)(nil),
		"an array":                        bson.A{},
		"a key with a zero byte":          d("a\x00b", 1),
		"a map's key with a zero byte":    map[string]int{"a\x00b": 1},
		"a number over 63 bits":           numbers{U64: math.MaxUint64},
		"a type's own method":             owners{Value: ownValue{13}},
		"a document's own method":         ownDocument{13},
		"a type's own method in a D":      d("a", ownValue{13}),
		"a double key":                    duplicate{},
		"a regular expression with zero":  d("a", bson.Regex{Pattern: "\x00"}),
		"a raw value of an unknown type":  d("a", bson.RawValue{Type: 99}),
		"a raw document that is too long": d("a", bson.Raw{9, 0, 0, 0, 0}),
		"a channel":                       channels{},
		"a slice of functions":            d("a", functions{F: []func(){nil}}),
	} {
		t.Run(name, func(t *testing.T) {
			_, want := bson.Marshal(v)
			_, got := Append(nil, v)
			if want == nil || got == nil || got.Error() != want.Error() {
				t.Errorf("\ngot  %v\nwant %v", got, want)
			}
		})
	}
}

func TestMapsWithSeveralEntriesAreEncodedCompletely(t *testing.T) {
	for _, v := range []any{
		bson.M{"a": 1, "b": bson.M{"c": int64(2)}, "d": nil, "e": bson.A{1, "x"}},
		map[string]string{"a": "1", "b": "2", "c": "3"},
		map[text]count8{"a": 1, "b": 2},
		node{By: map[string]*node{"a": {Value: 1}, "b": nil}},
	} {
		doc, err := Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		target := reflect.New(reflect.TypeOf(v))
		want := reflect.New(reflect.TypeOf(v))
		if err := bson.Unmarshal(must(t, v), want.Interface()); err != nil {
			t.Fatal(err)
		}
		if err := bson.Unmarshal(doc, target.Interface()); err != nil || !same(target, want) {
			t.Errorf("%+v: %v, %v", v, target.Elem(), err)
		}
	}
}

// A target's slices, maps, pointers and values in interfaces are used again as the general decoder does.
func TestATargetThatHasValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		doc    bson.D
		target func() any
	}{
		{"a slice is overwritten", d("anys", bson.A{1, 2}), func() any { return &bsonFields{Anys: make([]any, 0, 5)} }},
		{"values in interfaces keep their types", d("anys", bson.A{1, 2, 3}), func() any { return &bsonFields{Anys: []any{int64(7), int8(1)}} }},
		{"a map keeps its other entries", d("m", d("a", 1)), func() any { return &bsonFields{M: bson.M{"a": "old", "b": "old"}} }},
		{"null empties a map", d("m", nil), func() any { return &bsonFields{M: bson.M{"a": "old"}} }},
		{"a struct keeps its other fields", d("next", d("value", 1)), func() any { return &node{Next: &node{Any: "old"}} }},
		{"null empties a struct", d("inner", nil), func() any { return &nestedInner{Inner: Inner{A: 1}} }},
		{"a pointer in an interface is followed", d("any", 7), func() any { return &node{Any: new(int)} }},
		{"an array keeps its other elements", d("point", bson.A{1.0}), func() any { return &node{Point: [2]float64{5, 6}} }},
		{"a longer slice keeps its memory", d("lists", bson.A{bson.A{1}}), func() any { return &node{Lists: [][]int{{4, 5}, {6}}} }},
		{
			"a slice that grows forgets its elements", d("maps", bson.A{d("a", 1), d("b", 1), d("c", 1)}),
			func() any { return &struct{ Maps []map[string]int }{[]map[string]int{{"old": 1}, {"old": 2}}} },
		},
		{"null for a pointer with a method", d("pdecoder", nil), func() any { return &owners{PDecoder: &ownDecoder{Type: 1}} }},
		{"null for a pointer with a method for documents", d("pbytes", nil), func() any { return &owners{PBytes: &ownBytes{}} }},
		{"a D is overwritten", d("d", d("a", 1)), func() any { return &bsonFields{D: d("x", 1, "y", 2)} }},
		{"raw bytes are overwritten", d("raw", d()), func() any { return &bsonFields{Raw: make(bson.Raw, 30)} }},
		{"a double key", append(d("any", 1), d("any", "x")...), func() any { return new(node) }},
		{"a double key of an array", append(d("anys", bson.A{1}), d("anys", bson.A{"x"})...), func() any { return new(bsonFields) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := compareDecoding(must(t, c.doc), c.target); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATargetsMemoryIsUsedAgain(t *testing.T) {
	doc := must(t, d("lists", bson.A{bson.A{7, 8}}, "value", 1))
	for name, decode := range map[string]func([]byte, any) error{"general": bson.Unmarshal, "ours": Decode} {
		lists := [][]int{{1, 2, 3}, {4}}
		target := node{Lists: lists}
		if err := decode(doc, &target); err != nil || &target.Lists[0] != &lists[0] || len(target.Lists) != 1 {
			t.Errorf("%s: %v, %v", name, target.Lists, err)
		}
	}
}

// The result of Decode does not change when the document's bytes change.
func TestResultsDoNotAliasTheDocument(t *testing.T) {
	source := must(t, d(
		"b", []byte("bytes"), "raw", bson.Raw{5, 0, 0, 0, 0}, "rv", int32(1), "bin", []byte("binary"), "d", d("key", "value"),
		"any", bson.Binary{Subtype: 2, Data: []byte("old binary")}, "re", bson.Regex{Pattern: "p"}, "m", d("key", "value"),
	))
	var want, got bsonFields
	if err := errors.Join(bson.Unmarshal(source, &want), Decode(source, &got)); err != nil {
		t.Fatal(err)
	}
	clear(source)
	if !same(reflect.ValueOf(got), reflect.ValueOf(want)) {
		t.Errorf("got %+v", got)
	}
}

// nestedDocument returns a document with this many levels. In each, the only element has the type t.
func nestedDocument(levels int, t bson.Type) []byte {
	size := 5 + (levels-1)*8
	doc := make([]byte, 0, size)
	for ; levels > 1; levels-- {
		doc = binary.LittleEndian.AppendUint32(doc, uint32(size))
		doc = append(doc, byte(t), '0', 0)
		size -= 8
	}
	doc = append(doc, 5, 0, 0, 0, 0)
	return append(doc, make([]byte, cap(doc)-len(doc))...)
}

func TestNestingIsLimited(t *testing.T) {
	for _, typ := range []bson.Type{bson.TypeEmbeddedDocument, bson.TypeArray} {
		for _, target := range []any{new(bson.D), new(any), new(bson.M), new(node), new(map[string]any)} {
			if err := Decode(nestedDocument(maxDepth, typ), target); err != nil {
				t.Errorf("%v into %T: %v", typ, target, err)
			}
			if err := Decode(nestedDocument(maxDepth+1, typ), target); !errors.Is(err, errTooDeep) {
				t.Errorf("%v into %T, a level more: %v", typ, target, err)
			}
		}
		if err := Decode(nestedDocument(2_000_000, typ), new(bson.D)); !errors.Is(err, errTooDeep) { // the stack would overflow
			t.Errorf("%v, 2,000,000 levels: %v", typ, err)
		}
	}
}

// Lengths that are wrong make a document malformed, but do not stop the general decoder from going deeper.
func TestALargeMalformedDocumentIsRefused(t *testing.T) {
	doc := bytes.Repeat([]byte{5, 0, 0, 0, byte(bson.TypeEmbeddedDocument), 0}, 8_000_000)
	binary.LittleEndian.PutUint32(doc, uint32(len(doc)))
	if err := Decode(doc, new(bson.D)); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
	for size, want := range map[int]bool{maxMalformed: false, maxMalformed + 1: true} {
		doc := make([]byte, size) // its length is wrong
		if err := Decode(doc, new(bson.D)); err == nil || errors.Is(err, errMalformed) != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestGoValuesThatContainThemselvesAreRefused(t *testing.T) {
	loop := &node{}
	loop.Next = loop
	m := bson.M{}
	m["m"] = m
	a := bson.A{nil}
	a[0] = a
	list := []any{nil}
	list[0] = list
	type pointer *pointer
	var p pointer
	p = &p
	for _, v := range []any{loop, m, d("a", a), d("list", list), d("p", p)} {
		if _, err := Append(nil, v); !errors.Is(err, errTooDeep) {
			t.Errorf("%T: %v", v, err)
		}
	}
}

// bomb panics in the middle of a document.
type bomb struct{ N int }

func (bomb) MarshalBSONValue() (byte, []byte, error) { panic("bomb") }

func TestAPanicLeavesNothingBehind(t *testing.T) {
	explode := func(v any) {
		defer func() {
			if recover() == nil {
				t.Errorf("no panic for %T", v)
			}
		}()
		_, _ = Append(nil, v)
	}
	for _, v := range []any{
		bomb{},
		d("a", 1, "b", bomb{}),
		map[int]any{1: bomb{}},
		inlineMap{},
		d("a", map[int]any{1: bomb{}}),
		struct {
			A map[int]bomb `bson:"a,minsize"`
		}{map[int]bomb{1: {}}},
	} {
		if _, ok := v.(inlineMap); !ok {
			explode(v)
		}
		for range 3 {
			if diff := compareEncoding(inlineMap{A: 1, Rest: map[string]int{"x": 1}}); diff != "" {
				t.Error(diff)
			}
			if diff := compareEncoding(map[int]int{1: 2}); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestTypesAreUsedAtOnceByManyGoroutines(t *testing.T) {
	type a struct {
		B []struct{ C map[string]*node }
		D *flat
	}
	doc := must(t, a{B: []struct{ C map[string]*node }{{}}, D: &flat{}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				var v a
				if err := Decode(doc, &v); err != nil {
					t.Error(err)
				}
				if b, err := Append(nil, v); err != nil || len(b) != len(doc) {
					t.Error(b, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzDecode(f *testing.F) {
	r := seeded(5)
	for i, typ := range targetTypes {
		for range 3 {
			f.Add(r.bytesFor(typ), byte(i), uint64(0))
			f.Add(r.bytesFor(typ), byte(i), r.Uint64())
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, typ byte, before uint64) {
		target := func() any {
			of := targetTypes[int(typ)%len(targetTypes)]
			if before == 0 {
				return reflect.New(of).Interface()
			}
			return seeded(before).filled(of, 3).Addr().Interface()
		}
		if diff := compareDecoding(doc, target); diff != "" {
			t.Error(diff)
		}
	})
}

// The second document is decoded by a decoder that remembers the first.
func FuzzDecoder(f *testing.F) {
	r := seeded(7)
	for i, typ := range targetTypes {
		f.Add(r.bytesFor(typ), r.bytesFor(typ), byte(i))
	}
	f.Fuzz(func(t *testing.T, first, second []byte, typ byte) {
		target := func() any { return reflect.New(targetTypes[int(typ)%len(targetTypes)]).Interface() }
		var d Decoder
		_ = observe(func() (any, error) { return nil, d.Decode(first, target()) })
		if diff := compareDecoders(second, target, map[string]func([]byte, any) error{"Decoder": d.Decode}); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzNewTypes(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(compareNewType)
}

package bsoncodec

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// random makes Go values, documents and types.
type random struct{ *rand.Rand }

func seeded(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 0))} }

func pick[T any](r random, of ...T) T { return of[r.IntN(len(of))] }

var (
	specialInts = []int64{
		0, 1, -1, 7, 13, math.MaxInt8, math.MaxInt8 + 1, math.MinInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32,
		math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64, math.MinInt64,
	}
	specialFloats = []float64{
		0, math.Copysign(0, -1), 1, -1, 2.5, 300, 1 << 31, 1 << 53, 1 << 62, 1 << 63, 1 << 64, -1 << 63, math.NaN(), math.Inf(1), math.Inf(-1),
		math.MaxFloat64, math.MaxFloat32, math.SmallestNonzeroFloat64, 0.1,
	}
	specialTexts = []string{
		"", "x", "hello world", "\xff\xfe", "zero\x00byte", "\u00e4", "0123456789ab", "507f1f77bcf86cd799439011", "2006-01-02T15:04:05Z",
		"https://example.org/?q=1", "12.5", strings.Repeat("long", 20),
	}
	specialTimes = []time.Time{
		{}, time.UnixMilli(0), time.Unix(1, 999_999_999), time.Unix(-1, 1), time.Time{}.Local(), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
	keyNames = []string{"a", "b", "c", "x", "y", "A", "key", "with space", "\u00c4", "0", "1", "2026-01-02T03:04:05Z", ""}
)

// value returns a value of one of the types that package bson decodes into a variable of type any.
func (r random) value(depth int) any {
	if depth > 0 && r.IntN(3) == 0 {
		return pick[func() any](r, func() any { return r.document(keyNames, depth-1) }, func() any { return r.array(depth - 1) })()
	}
	text := pick(r, specialTexts...)
	return pick[any](
		r, text, int32(pick(r, specialInts...)), pick(r, specialInts...), pick(r, specialFloats...), r.IntN(2) == 0, nil,
		bson.ObjectID{1, 2, byte(r.IntN(256))}, bson.DateTime(pick(r, specialInts...)), bson.Timestamp{T: 1, I: 2},
		bson.Binary{Subtype: pick[byte](r, 0, 2, 4, 128), Data: []byte(text)}, bson.Binary{}, bson.NewDecimal128(1, 2),
		bson.Regex{Pattern: "p", Options: "i"}, bson.Symbol(text), bson.JavaScript(text), bson.Undefined{}, bson.MinKey{}, bson.MaxKey{},
		bson.DBPointer{DB: "db", Pointer: bson.ObjectID{3}}, bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: int32(1)}}},
	)
}

func (r random) document(keys []string, depth int) bson.D {
	d := bson.D{}
	for range r.IntN(6) {
		d = append(d, bson.E{Key: pick(r, keys...), Value: r.value(depth)})
	}
	return d
}

func (r random) array(depth int) bson.A {
	a := bson.A{}
	same := r.value(depth)
	for range r.IntN(4) {
		if r.IntN(2) == 0 {
			same = r.value(depth)
		}
		a = append(a, same)
	}
	return a
}

// keysOf returns the keys that documents for a type have.
func keysOf(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return keyNames
	}
	keys := []string{"unknown", "Unknown"}
	if fields, ok := fieldsOf(t); ok {
		for _, f := range fields {
			keys = append(keys, f.name, f.name, strings.ToUpper(f.name))
		}
		return keys
	}
	for i := range t.NumField() {
		keys = append(keys, strings.ToLower(t.Field(i).Name))
	}
	return append(keys, keyNames...)
}

// bytesFor returns a document for a type, some of them malformed.
func (r random) bytesFor(t reflect.Type) []byte {
	var doc []byte
	if r.IntN(2) == 0 { // a document that this type is encoded to
		o := observe(func() (any, error) { return bson.Marshal(r.filled(t, 3).Interface()) })
		doc, _ = o.value.([]byte)
	}
	if doc == nil {
		var err error
		if doc, err = bson.Marshal(r.document(keysOf(t), 3)); err != nil {
			panic(err)
		}
	}
	if r.IntN(8) == 0 && len(doc) > 0 {
		doc[r.IntN(len(doc))] = pick[byte](r, 0, 1, 2, 3, 5, 10, 127, 128, 255, byte(r.IntN(256)))
	}
	if r.IntN(40) == 0 {
		doc = doc[:r.IntN(len(doc)+1)]
	}
	return doc
}

// filled returns an addressable value of type t with random contents. Maps have at most one entry, because their order
// is random when they are encoded.
func (r random) filled(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	r.fill(v, depth)
	return v
}

func (r random) fill(v reflect.Value, depth int) {
	if !v.CanSet() || r.IntN(8) == 0 {
		return
	}
	if known := r.known(v.Type(), depth); known != nil {
		v.Set(reflect.ValueOf(known))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(pick(r, specialTexts...))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(pick(r, specialInts...))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(pick(r, specialInts...)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(r, specialFloats...))
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i), depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth-1)
		}
	default:
		if depth > 0 {
			r.fillReference(v, depth-1)
		}
	}
}

func (r random) fillReference(v reflect.Value, depth int) {
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(r.filled(t.Elem(), depth).Addr())
	case reflect.Slice:
		n := r.IntN(4)
		v.Set(reflect.MakeSlice(t, n, n+r.IntN(3)))
		for i := range n {
			r.fill(v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		if key := r.filled(t.Key(), 0); r.IntN(4) > 0 && key.Comparable() {
			v.SetMapIndex(key, r.filled(t.Elem(), depth))
		}
	case reflect.Interface:
		if t.NumMethod() == 0 && r.IntN(4) > 0 {
			v.Set(r.filled(pick(r, targetTypes...), depth))
		}
	}
}

// known returns a value of a type whose contents follow rules, or nil.
func (r random) known(t reflect.Type, depth int) any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return pick(r, specialTimes...)
	case reflect.TypeFor[json.Number]():
		return pick[json.Number](r, "1", "2.5", "12345678901", "x")
	case reflect.TypeFor[url.URL]():
		return url.URL{Scheme: "https", Host: "example.org"}
	case reflect.TypeFor[bson.Raw]():
		return pick(r, bson.Raw{5, 0, 0, 0, 0}, bson.Raw{8, 0, 0, 0, 10, 'x', 0, 0}, bson.Raw{5}, nil)
	case reflect.TypeFor[bson.RawValue]():
		return pick(r, bson.RawValue{Type: bson.TypeNull}, bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}, bson.RawValue{Type: 99})
	case reflect.TypeFor[bson.Vector]():
		return bson.NewVector([]int8{1, 2})
	case reflect.TypeFor[bson.D]():
		return r.document(append([]string{"k\x00"}, keyNames...), min(depth, 2))
	case reflect.TypeFor[any]():
		if r.IntN(2) == 0 {
			return r.value(min(depth, 2))
		}
	case reflect.TypeFor[error](), reflect.TypeFor[fmt.Stringer]():
		if t.Kind() == reflect.Interface && t == reflect.TypeFor[fmt.Stringer]() {
			return pick[any](r, time.Second, bson.ObjectID{1}, bson.NewDecimal128(0, 1))
		}
	}
	return nil
}

// typ returns a new type.
func (r random) typ(depth int) reflect.Type {
	leaf := pick(
		r, reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint64](), reflect.TypeFor[int64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[text](),
		reflect.TypeFor[[]byte](), reflect.TypeFor[byte](), reflect.TypeFor[any](), reflect.TypeFor[time.Time](), reflect.TypeFor[bson.ObjectID](),
		reflect.TypeFor[bson.D](), reflect.TypeFor[bson.M](), reflect.TypeFor[bson.A](), reflect.TypeFor[bson.Decimal128](),
		reflect.TypeFor[bson.Regex](), reflect.TypeFor[bson.RawValue](), reflect.TypeFor[ownDecoder](), reflect.TypeFor[ownPointer](),
		reflect.TypeFor[ownZero](), reflect.TypeFor[chan int](), reflect.TypeFor[node](), reflect.TypeFor[raws](),
	)
	if depth == 0 {
		return leaf
	}
	inner := func() reflect.Type { return r.typ(depth - 1) }
	return pick(
		r,
		func() reflect.Type { return leaf },
		func() reflect.Type { return reflect.PointerTo(inner()) },
		func() reflect.Type { return reflect.SliceOf(inner()) },
		func() reflect.Type { return reflect.ArrayOf(r.IntN(3), inner()) },
		func() reflect.Type {
			return reflect.MapOf(pick(r, reflect.TypeFor[string](), reflect.TypeFor[text](), reflect.TypeFor[int]()), inner())
		},
		func() reflect.Type { return r.structType(depth - 1) },
	)()
}

func (r random) structType(depth int) reflect.Type {
	fields := make([]reflect.StructField, r.IntN(5))
	for i := range fields {
		tag := ""
		for _, part := range []string{"omitempty", "minsize", "truncate", "inline"} {
			if r.IntN(6) == 0 {
				tag += "," + part
			}
		}
		if r.IntN(3) == 0 {
			tag = pick(r, keyNames...) + tag
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: r.typ(depth), Tag: reflect.StructTag(fmt.Sprintf("bson:%q", tag))}
	}
	return reflect.StructOf(fields)
}

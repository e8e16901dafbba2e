package bsoncodec

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The tests compare this package with package bson: for each input both must return equal values, or both must return an
// error. Inputs for which package bson panics are not compared: it does so for some types that it does not know.

// outcome is the result of a call.
type outcome struct {
	value    any
	err      error
	panicked bool
}

func observe(f func() (any, error)) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{panicked: true}
		}
	}()
	v, err := f()
	if err != nil {
		return outcome{err: err}
	}
	return outcome{value: v}
}

func (o outcome) String() string {
	return fmt.Sprintf("%+v, error %v, panicked %v", o.value, o.err, o.panicked)
}

// equal reports whether the outcome is that of package bson.
func (o outcome) equal(want outcome) bool {
	if want.panicked {
		return true
	}
	if o.panicked { // it returns an error for a pointer to such a type, and panics the next time
		return want.err != nil && noCodec.MatchString(want.err.Error())
	}
	return (o.err == nil) == (want.err == nil) && same(reflect.ValueOf(o.value), reflect.ValueOf(want.value))
}

var noCodec = regexp.MustCompile("no (en|de)coder found")

// same is reflect.DeepEqual, but NaN is equal to NaN, and -0 is not equal to 0.
func same(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.IsNil() != b.IsNil() {
			return false
		}
		fallthrough
	case reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		return sameMaps(a, b)
	default:
		return reflect.DeepEqual(readable(a), readable(b))
	}
}

func sameMaps(a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	for it := a.MapRange(); it.Next(); {
		if other := b.MapIndex(it.Key()); !other.IsValid() || !same(it.Value(), other) {
			return false
		}
	}
	return true
}

// readable returns a scalar, also if it is in an unexported field.
func readable(v reflect.Value) any {
	switch {
	case v.CanInterface() && v.Kind() != reflect.Func:
		return v.Interface()
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	default:
		return v.IsZero()
	}
}

// compareDecoding decodes doc into two targets that are made alike, and returns a text if the results differ.
func compareDecoding(doc []byte, target func() any) string {
	var used Decoder
	_ = observe(func() (any, error) { return nil, used.Decode(doc, new(bson.D)) })
	return compareDecoders(doc, target, map[string]func([]byte, any) error{
		"Decode": Decode, "Decoder": new(Decoder).Decode, "Decoder that knows the keys": used.Decode,
	})
}

// compareDecoders is compareDecoding for these functions.
func compareDecoders(doc []byte, target func() any, decoders map[string]func([]byte, any) error) string {
	decoded := func(decode func([]byte, any) error) outcome {
		return observe(func() (any, error) {
			v := target()
			err := decode(doc, v)
			return v, err
		})
	}
	want := decoded(bson.Unmarshal)
	for name, decode := range decoders {
		if got := decoded(decode); !got.equal(want) {
			return fmt.Sprintf("%s of %x into %T\ngot  %v\nwant %v", name, doc, target(), got, want)
		}
	}
	return ""
}

// compareEncoding encodes v, and returns a text if the results differ.
func compareEncoding(v any) string {
	return compareEncoder(v, func(dst []byte) ([]byte, error) { return Append(dst, v) })
}

// compareElementEncoding encodes v, which has an address, as an element of a slice, and returns a text if the result is
// not that of the general encoder for a copy of v.
func compareElementEncoding(v reflect.Value) string {
	return compareEncoder(v.Interface(), func(dst []byte) ([]byte, error) { return AppendElement(dst, v) })
}

func compareEncoder(v any, appendTo func(dst []byte) ([]byte, error)) string {
	want := observe(func() (any, error) { return bson.Marshal(v) })
	prefix := []byte("prefix")
	got := observe(func() (any, error) {
		b, err := appendTo(prefix)
		return b[min(len(b), len(prefix)):], err
	})
	if !got.equal(want) {
		return fmt.Sprintf("%T %+v\ngot  %v\nwant %v", v, v, got, want)
	}
	return ""
}

// Types whose fields show the rules.

type (
	text   string
	count8 int8
	toggle bool
	ratio  float32
	texts  []string
	raws   []byte
	dict   map[text]count8

	flat struct {
		ID      bson.ObjectID `bson:"_id,omitempty"`
		Name    string        `bson:"name"`
		Age     int           `json:"age"`
		Small   int32         `bson:"small,minsize"`
		Big     int64
		Balance float64   `bson:"balance"`
		Active  bool      `bson:"active"`
		Created time.Time `bson:"created"`
		Skipped string    `bson:"-"`
		Dash    string    `bson:"-,omitempty"`
		Tight   int64     `bson:"tight,minsize,omitempty"`
		Later   time.Time `bson:"later,omitempty"`
		Ratio   float64   `bson:"ratio,omitempty"`
		hidden  int       //nolint:unused // it must not be encoded
	}

	numbers struct {
		I8         int8
		I16        int16
		I32        int32
		I64        int64
		I          int
		U8         uint8
		U16        uint16
		U32        uint32
		U64        uint64
		U          uint
		F32        float32
		F64        float64
		T8         int8    `bson:"t8,truncate"`
		TU         uint    `bson:"tu,truncate,minsize"`
		TF         float32 `bson:"tf,truncate"`
		C          count8
		R          ratio
		MinU       uint64        `bson:"minu,minsize"`
		MinI       []int64       `bson:"mini,minsize"`
		Lasts      time.Duration `bson:"lasts,omitempty"`
		Yes        toggle
		MinPointer *int64 `bson:"minpointer,minsize,omitempty"`
	}

	node struct {
		Value int               `bson:"value"`
		Next  *node             `bson:"next,omitempty"`
		All   []node            `bson:"all,omitempty"`
		By    map[string]*node  `bson:"by,omitempty"`
		Lists [][]int           `bson:"lists"`
		Pairs map[text][]string `bson:"pairs,omitempty"`
		Point [2]float64        `bson:"point"`
		Any   any               `bson:"any"`
		PP    **int             `bson:"pp"`
	}

	bsonFields struct {
		D    bson.D
		M    bson.M
		A    bson.A
		Any  any
		Anys []any
		Map  map[string]any
		Raw  bson.Raw
		RV   bson.RawValue
		Dec  bson.Decimal128
		TS   bson.Timestamp
		DT   bson.DateTime
		Bin  bson.Binary
		B    []byte
		Re   bson.Regex
		Sym  bson.Symbol
		JS   bson.JavaScript
		CWS  bson.CodeWithScope
		Null bson.Null
		Un   bson.Undefined
		Min  bson.MinKey
		Max  bson.MaxKey
		DBP  bson.DBPointer
		Vec  *bson.Vector
	}

	Inner struct {
		A int    `bson:"a"`
		B string `bson:"b,omitempty"`
	}
	inlined struct {
		Inner     `bson:",inline"`
		*PtrInner `bson:"inline"`
		C         int
	}
	PtrInner  struct{ X, Y int }
	inlineMap struct {
		A    int            `bson:"a"`
		Rest map[string]int `bson:",inline"`
	}
	nestedInner struct {
		Inner
		Deep struct{ Inner Inner }
	}
	duplicate struct {
		A int `bson:"x"`
		B int `bson:"x"`
	}
	dominated struct {
		A     int `bson:"a"`
		Inner `bson:",inline"`
	}
	cased struct {
		Upper string `bson:"UPPER"`
		Lower string
		Über  string
	}

	mixed struct {
		Text  text
		Texts texts
		Raws  raws
		Dict  dict
		Num   json.Number `bson:"num,minsize"`
		URL   url.URL
		PURL  *url.URL
		ByInt map[int]string
		ByTxt map[time.Time]string
		Elems []bson.E
		Hash  [4]byte
		Pair  [2]bson.E
		Small []count8
		Names []text
		Str   fmt.Stringer
		Err   error `bson:"err,omitempty"`
		Anys  [2]any
		Ms    []bson.M
		Ds    []bson.D
		E     bson.E
	}

	channels struct {
		A int
		C chan int
		M map[string]chan int
		L []complex64
		P [1]func()
		S []fmt.Stringer
		E map[string]error
	}
	functions struct {
		F []func() `bson:"f,omitempty"`
	}
)

var errRefused = errors.New("refused by the type's own method")

type (
	ownDocument struct{ N int }
	ownValue    struct{ N int }
	ownPointer  struct{ N int } // its methods need a pointer
	ownDecoder  struct {
		Type byte
		Data []byte
	}
	ownBytes struct{ Data []byte }
	ownZero  struct{ N int }
	ownKey   string
	codeKey  string

	owners struct {
		Document  ownDocument
		PDocument *ownDocument
		Value     ownValue
		PValue    *ownValue
		Pointer   ownPointer
		PPointer  *ownPointer
		Slice     []ownPointer
		Map       map[string]ownPointer
		Array     [1]ownPointer
		Decoder   ownDecoder
		PDecoder  *ownDecoder
		Bytes     ownBytes
		PBytes    *ownBytes
		Zero      ownZero  `bson:"zero,omitempty"`
		PZero     *ownZero `bson:"pzero,omitempty"`
		Keys      map[ownKey]int
		Codes     map[codeKey]int
		Hook      bson.Marshaler
		Hooks     []bson.ValueMarshaler
	}
)

func (o ownDocument) MarshalBSON() ([]byte, error) {
	if o.N == 13 {
		return nil, errRefused
	}
	return bson.Marshal(bson.D{{Key: "own", Value: o.N}})
}

func (o ownValue) MarshalBSONValue() (byte, []byte, error) {
	if o.N == 13 {
		return 0, nil, errRefused
	}
	return byte(bson.TypeInt32), []byte{byte(o.N), 1, 0, 0}, nil
}

func (o *ownPointer) MarshalBSONValue() (byte, []byte, error) {
	if o == nil {
		return byte(bson.TypeNull), nil, nil
	}
	return byte(bson.TypeInt32), []byte{byte(o.N), 2, 0, 0}, nil
}

func (o *ownDecoder) UnmarshalBSONValue(t byte, data []byte) error {
	if t == byte(bson.TypeBoolean) {
		return errRefused
	}
	o.Type, o.Data = t, data
	return nil
}

func (o *ownBytes) UnmarshalBSON(data []byte) error {
	if len(data) <= 1 {
		return errRefused
	}
	o.Data = append(o.Data, data...)
	return nil
}

func (o ownZero) IsZero() bool { return o.N == 7 }

func (k *codeKey) UnmarshalKey(key string) error { *k = codeKey("code " + key); return nil }

func (k *ownKey) UnmarshalText(b []byte) error { *k = ownKey("own " + string(b)); return nil }

// wholeTag is a struct whose tag has no key: all of it is the name.
var wholeTag = reflect.StructOf([]reflect.StructField{
	{Name: "A", Type: reflect.TypeFor[int](), Tag: "whole,omitempty"},
	{Name: "B", Type: reflect.TypeFor[string](), Tag: `bson:"omitempty"`},
})

// zeroTag is a struct with a zero byte in a name.
var zeroTag = reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[string](), Tag: `bson:"zero\x00byte"`}})

// targetTypes are the types that the tests decode into and encode from.
var targetTypes = []reflect.Type{
	reflect.TypeFor[flat](), reflect.TypeFor[numbers](), reflect.TypeFor[node](), reflect.TypeFor[bsonFields](),
	reflect.TypeFor[inlined](), reflect.TypeFor[inlineMap](), reflect.TypeFor[nestedInner](), reflect.TypeFor[duplicate](),
	reflect.TypeFor[dominated](), reflect.TypeFor[cased](), reflect.TypeFor[mixed](), reflect.TypeFor[channels](),
	reflect.TypeFor[functions](), reflect.TypeFor[owners](), reflect.TypeFor[ownDocument](), reflect.TypeFor[ownDecoder](),
	reflect.TypeFor[ownBytes](), reflect.TypeFor[bson.D](), reflect.TypeFor[bson.M](), reflect.TypeFor[bson.A](),
	reflect.TypeFor[any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[map[string]string](), reflect.TypeFor[dict](),
	reflect.TypeFor[bson.Raw](), reflect.TypeFor[bson.RawValue](), reflect.TypeFor[[]byte](), reflect.TypeFor[*flat](),
	reflect.TypeFor[[]bson.E](), reflect.TypeFor[map[string]int](), reflect.TypeFor[map[string]node](), reflect.TypeFor[string](),
	wholeTag, zeroTag, reflect.TypeFor[map[int]int](), reflect.TypeFor[error](), reflect.TypeFor[*bson.D](), reflect.TypeFor[ownPointer](),
}

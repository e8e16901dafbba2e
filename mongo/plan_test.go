package mongo

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

type planned struct {
	ID      bson.ObjectID `bson:"_id,omitempty"`
	Name    string        `bson:"name"`
	Age     int           `json:"age"`
	Small   int32         `bson:"small,minsize"`
	Big     int64
	Balance float64   `bson:"balance"`
	Active  bool      `bson:"active"`
	Created time.Time `bson:"created"`
	Skipped string    `bson:"-"`
	Tight   int64     `bson:"tight,minsize,omitempty"`
	Later   time.Time `bson:"later,omitempty"`
	Ratio   float64   `bson:"ratio,omitempty"`
	hidden  int
}

// A plan and the official decoder have the same result for every document, including errors.
func TestPlansDecodeLikeTheGeneralDecoder(t *testing.T) {
	values := []any{
		"x", "", int32(7), int32(-1), int64(1) << 40, int64(5), math.MaxFloat64, 2.5, 3.0, true, false, nil,
		bson.NewObjectID(), bson.DateTime(1), bson.DateTime(-62135596800001),
		bson.A{},
		bson.D{{Key: "a", Value: 1}},
		bson.Timestamp{T: 1},
		bson.Binary{Data: []byte{1}},
		bson.Symbol("s"),
		bson.Null{},
		bson.NewDecimal128(1, 2),
	}
	keys := []string{"_id", "name", "age", "Age", "small", "big", "Big", "balance", "active", "created", "skipped", "hidden", "other", "tight", "later"}
	decoded := 0
	for range 20_000 {
		doc := bson.D{}
		for range rand.IntN(6) {
			doc = append(doc, bson.E{Key: keys[rand.IntN(len(keys))], Value: values[rand.IntN(len(values))]})
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		before := planned{Name: "before", Age: 1, hidden: 2}
		want, got := before, before
		wantErr := bson.Unmarshal(raw, &want)
		gotErr := codec{}.unmarshal(raw, &got)
		if (wantErr == nil) != (gotErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\ngot  %+v, %v\nwant %+v, %v", doc, got, gotErr, want, wantErr)
		}
		if fresh := before; decodeByPlan(raw, &fresh) {
			decoded++
		}
	}
	if decoded < 500 {
		t.Errorf("only %d documents were decoded by the plan", decoded)
	}
}

// A plan and the official encoder write the same bytes.
func TestPlansEncodeLikeTheGeneralEncoder(t *testing.T) {
	ints := []int64{0, 1, -1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxInt64}
	times := []time.Time{{}, time.UnixMilli(0), time.Unix(1, 999_999_999), time.Unix(-1, 1), time.Now(), time.Time{}.Local()}
	for range 5_000 {
		v := planned{
			Name: []string{"", "x", "\u00e4\x00y"}[rand.IntN(3)], Age: int(ints[rand.IntN(len(ints))]), Small: rand.Int32(),
			Big: ints[rand.IntN(len(ints))], Tight: ints[rand.IntN(len(ints))], Balance: rand.NormFloat64(),
			Active: rand.IntN(2) == 0, Created: times[rand.IntN(len(times))], Later: times[rand.IntN(len(times))], hidden: 1,
			Ratio: []float64{0, math.Copysign(0, -1), 1}[rand.IntN(3)],
		}
		if rand.IntN(2) == 0 {
			v.ID = bson.NewObjectID()
		}
		want, err := bson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range []any{v, &v} {
			got, done := encodeByPlan(nil, arg)
			if !done || !bytes.Equal(got, want) {
				t.Fatalf("%T %+v\ngot  %v\nwant %v", arg, v, bson.Raw(got), bson.Raw(want))
			}
		}
	}
}

type (
	custom   struct{ N int }
	embedded struct{ planned }
	inlined  struct {
		P planned `bson:",inline"`
	}
	twice struct {
		A int `bson:"x"`
		B int `bson:"x"`
	}
)

func (c *custom) UnmarshalBSON([]byte) error { c.N = 42; return nil }

func TestUnsupportedTypesHaveNoPlan(t *testing.T) {
	for _, v := range []any{custom{}, embedded{}, inlined{}, twice{}, struct{ P *int }{}, struct{ M map[string]int }{}, struct{ S []string }{}} {
		if p := newPlan(reflect.TypeOf(v)); p != nil {
			t.Errorf("%T has a plan", v)
		}
	}
	var c custom
	if err := (codec{}).unmarshal(bson.Raw{5, 0, 0, 0, 0}, &c); err != nil || c.N != 42 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, v := range []any{nil, planned{}, (*planned)(nil), new(int), &bson.D{}} {
		if decodeByPlan([]byte{5, 0, 0, 0, 0}, v) {
			t.Errorf("%T was decoded", v)
		}
	}
}

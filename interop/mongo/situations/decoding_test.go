package situations

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// stored has a value of most types.
var stored = bson.D{
	{Key: "_id", Value: bson.ObjectID{1, 2, 3}},
	{Key: "text", Value: "t"},
	{Key: "int32", Value: int32(7)},
	{Key: "int64", Value: int64(1) << 40},
	{Key: "double", Value: 1.5},
	{Key: "bool", Value: true},
	{Key: "time", Value: bson.DateTime(1000)},
	{Key: "null", Value: nil},
	{Key: "binary", Value: bson.Binary{Data: []byte{1, 2}}},
	{Key: "document", Value: bson.D{{Key: "a", Value: int32(1)}}},
	{Key: "array", Value: bson.A{int32(1), "two"}},
	{Key: "decimal", Value: bson.NewDecimal128(0, 1)},
}

type field[T any] struct{ name string }

func (f field[T]) target() any {
	t := reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(fmt.Sprintf(`bson:%q`, f.name))}})
	return reflect.New(t).Interface()
}

// targetsOf are structs with one field of the document and several types.
func targetsOf(name string) []any {
	return []any{
		field[string]{name}.target(), field[int]{name}.target(), field[int8]{name}.target(), field[uint]{name}.target(), field[float32]{name}.target(),
		field[float64]{name}.target(), field[bool]{name}.target(), field[time.Time]{name}.target(), field[any]{name}.target(), field[*int]{name}.target(),
		field[[]byte]{name}.target(), field[[]int]{name}.target(), field[[1]int]{name}.target(), field[map[string]any]{name}.target(),
		field[map[int]any]{name}.target(), field[struct{ A int }]{name}.target(), field[bson.D]{name}.target(), field[bson.M]{name}.target(),
		field[bson.A]{name}.target(), field[bson.Raw]{name}.target(), field[bson.RawValue]{name}.target(), field[bson.ObjectID]{name}.target(),
		field[bson.DateTime]{name}.target(), field[bson.Decimal128]{name}.target(), field[bson.Binary]{name}.target(), field[fmt.Stringer]{name}.target(),
		field[chan int]{name}.target(), field[time.Duration]{name}.target(),
	}
}

// bsonOptions has each of the BSON options.
func bsonOptions() []*options.BSONOptions {
	list := []*options.BSONOptions{{}}
	t := reflect.TypeFor[options.BSONOptions]()
	for i := range t.NumField() {
		o := new(options.BSONOptions)
		reflect.ValueOf(o).Elem().Field(i).SetBool(true)
		list = append(list, o)
	}
	return list
}

// printed returns the text of a value. The text of a bson.M itself has its keys in any order.
func printed(v any) string {
	switch m := v.(type) {
	case bson.M:
		return fmt.Sprintf("%+v", map[string]any(m))
	case *bson.M:
		return fmt.Sprintf("%+v", map[string]any(*m))
	}
	return fmt.Sprintf("%+v", v)
}

func decodingSituations() []situation {
	var list []situation
	for _, target := range []any{nil, bson.D{}, 7, (*bson.D)(nil), new(int), new(string), new(any), new(bson.M), new(bson.Raw), new([]int), new(map[string]string), new(struct{})} {
		list = append(list, situation{name: fmt.Sprintf("Decode to %T", target), do: func(ctx context.Context, w *world) (any, error) {
			err := w.coll.FindOne(ctx, byID).Decode(target)
			return printed(target), err
		}})
	}
	for _, e := range stored {
		for _, target := range targetsOf(e.Key) {
			list = append(list, situation{name: fmt.Sprintf("Decode %s to %T", e.Key, target), do: func(ctx context.Context, w *world) (any, error) {
				if _, err := w.coll.InsertOne(ctx, stored); err != nil {
					return nil, err
				}
				fresh := reflect.New(reflect.TypeOf(target).Elem()).Interface()
				err := w.coll.FindOne(ctx, bson.D{{Key: "_id", Value: stored[0].Value}}).Decode(fresh)
				return printed(reflect.ValueOf(fresh).Elem().Field(0).Interface()), err
			}})
		}
	}
	return append(list, bsonOptionSituations()...)
}

// written is encoded otherwise by some of the BSON options.
type written struct {
	JSON     int `json:"json_name" bson:"bson_name"`
	OnlyJSON int `json:"only_json"`
	Long     int64
	Map      map[string]int
	IntMap   map[int]int
	Slice    []int
	Bytes    []byte
	Empty    string
	Time     time.Time
	Nested   struct{ A int }
	Pointer  *int
}

func bsonOptionSituations() []situation {
	var list []situation
	for _, o := range bsonOptions() {
		set := oneLine(fmt.Sprintf("%+v", *o))
		scoped := func(w *world) *mongo.Collection {
			return w.client.Database("db", options.Database().SetBSONOptions(o)).Collection("c")
		}
		list = append(list, situation{name: "InsertOne with BSON options " + set, do: func(ctx context.Context, w *world) (any, error) {
			r, err := scoped(w).InsertOne(ctx, written{JSON: 1, OnlyJSON: 2, Long: 3, IntMap: map[int]int{1: 1}})
			return fmt.Sprintf("%v", r != nil), err
		}}, situation{name: "FindOne with BSON options " + set, do: func(ctx context.Context, w *world) (any, error) {
			if _, err := w.coll.InsertOne(ctx, stored); err != nil {
				return nil, err
			}
			var all any
			byID := bson.D{{Key: "_id", Value: stored[0].Value}}
			err := scoped(w).FindOne(ctx, byID).Decode(&all)
			target := struct {
				Map    map[string]int `bson:"document"`
				Number int            `bson:"double"`
				Text   string         `bson:"_id"`
			}{Map: map[string]int{"old": 1}}
			err2 := scoped(w).FindOne(ctx, byID).Decode(&target)
			return fmt.Sprintf("%T; %+v %v", all, target, textOf(err2)), err
		}}, situation{name: "a client with BSON options " + set, configure: func(c *options.ClientOptions) { c.SetBSONOptions(o) }, do: func(ctx context.Context, w *world) (any, error) {
			_, err := w.coll.UpdateOne(ctx, written{Long: 1}, bson.D{{Key: "$set", Value: written{Long: 2, IntMap: map[int]int{1: 1}}}})
			return nil, err
		}})
	}
	registry := bson.NewRegistry()
	registry.RegisterTypeEncoder(reflect.TypeFor[time.Duration](), bson.ValueEncoderFunc(
		func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
			return w.WriteString(v.Interface().(time.Duration).String())
		}))
	list = append(list, situation{name: "a registry", configure: func(c *options.ClientOptions) { c.SetRegistry(registry) }, do: func(ctx context.Context, w *world) (any, error) {
		return nil, w.coll.FindOne(ctx, bson.D{{Key: "d", Value: time.Second}}).Err()
	}})
	return list
}

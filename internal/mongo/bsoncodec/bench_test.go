package bsoncodec

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	address struct {
		Street string `bson:"street"`
		City   string `bson:"city"`
		Zip    string `bson:"zip"`
	}
	line struct {
		Product string  `bson:"product"`
		Count   int32   `bson:"count"`
		Price   float64 `bson:"price"`
	}
	order struct {
		ID       bson.ObjectID     `bson:"_id"`
		Customer string            `bson:"customer"`
		Address  address           `bson:"address"`
		Billing  *address          `bson:"billing"`
		Lines    []line            `bson:"lines"`
		Tags     []string          `bson:"tags"`
		Extra    map[string]string `bson:"extra"`
		Created  time.Time         `bson:"created"`
		Shipped  *time.Time        `bson:"shipped"`
		Version  int64             `bson:"version"`
		Total    float64           `bson:"total"`
		Priority int               `bson:"priority"`
	}
)

func newOrder() order {
	shipped := time.UnixMilli(1_750_000_100_000).UTC()
	return order{
		ID: bson.ObjectID{1, 2, 3}, Customer: "Ada Lovelace", Address: address{"1 Main Street", "London", "W1A 1AA"},
		Billing: &address{"2 Side Street", "London", "W1A 1AB"},
		Lines:   []line{{"engine", 1, 1815.5}, {"wheel", 4, 12.25}, {"card", 100, 0.5}}, Tags: []string{"first", "paid"},
		Extra: map[string]string{"gift": "no", "note": "by the door"}, Created: time.UnixMilli(1_750_000_000_000).UTC(), Shipped: &shipped,
		Version: 3, Total: 1914.5, Priority: 2,
	}
}

func BenchmarkDecode(b *testing.B) {
	doc, err := bson.Marshal(newOrder())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes", len(doc))
	var decoder Decoder
	for _, shape := range []struct {
		name   string
		target func() any
	}{
		{"struct", func() any { return new(order) }},
		{"D", func() any { return new(bson.D) }},
		{"M", func() any { return new(bson.M) }},
	} {
		for _, codec := range []struct {
			name   string
			decode func([]byte, any) error
		}{{"ours", decoder.Decode}, {"official", bson.Unmarshal}} {
			b.Run(shape.name+"/"+codec.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := codec.decode(doc, shape.target()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	o := newOrder()
	doc, err := bson.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	var asD bson.D
	if err := bson.Unmarshal(doc, &asD); err != nil {
		b.Fatal(err)
	}
	for name, v := range map[string]any{"struct": &o, "D": asD} {
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				if out, err = Append(out[:0], v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/official", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err = bson.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

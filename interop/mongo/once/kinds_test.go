package once

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func d(pairs ...any) bson.D {
	var doc bson.D
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}

// kinds are updates with every operator of the manual, https://www.mongodb.com/docs/manual/reference/operator/update/.
var kinds = []struct {
	name         string
	update       any
	arrayFilters []any
	condition    bson.D
}{
	{name: "$currentDate", update: d("$currentDate", d("at", true))},
	{name: "$currentDate and $inc", update: d("$currentDate", d("at", d("$type", "date")), "$inc", d("n", 1))},
	{name: "$inc", update: d("$inc", d("n", 2, "m.k", -1))},
	{name: "$min", update: d("$min", d("n", 2))},
	{name: "$max and $inc", update: d("$max", d("n", 9), "$inc", d("m.k", 1))},
	{name: "$mul", update: d("$mul", d("n", 3))},
	{name: "$rename and $inc", update: d("$rename", d("text", "word"), "$inc", d("n", 1))},
	{name: "$set", update: d("$set", d("n", 8, "m.z", bson.A{}))},
	{name: "$setOnInsert", update: d("$setOnInsert", d("made", 1))},
	{name: "$setOnInsert and $inc", update: d("$inc", d("n", 1), "$setOnInsert", d("made", 1, "a.b", 2))},
	{name: "$unset", update: d("$unset", d("text", ""))},
	{name: "$addToSet", update: d("$addToSet", d("q", d("$each", bson.A{1, 9})))},
	{name: "$addToSet and $inc", update: d("$addToSet", d("q", 9), "$inc", d("n", 1))},
	{name: "$pop", update: d("$pop", d("q", -1))},
	{name: "$pull", update: d("$pull", d("q", d("$gte", 2)))},
	{name: "$pull and $push", update: d("$pull", d("q", 2), "$push", d("r", 1))},
	{name: "$pullAll", update: d("$pullAll", d("q", bson.A{1, 2}))},
	{name: "$pullAll and $push", update: d("$pullAll", d("q", bson.A{1}), "$push", d("r", 1))},
	{name: "$push", update: d("$push", d("q", 7))},
	{name: "$push with modifiers", update: d("$push", d("q", d("$each", bson.A{7, 0}, "$position", 0, "$sort", -1, "$slice", 3)))},
	{name: "$bit and", update: d("$bit", d("n", d("and", int32(4), "or", int32(2))))},
	{name: "$bit xor", update: d("$bit", d("n", d("xor", int32(3))))},
	{name: "all elements", update: d("$inc", d("q.$[]", 1))},
	{name: "array filters", update: d("$inc", d("q.$[x]", 10)), arrayFilters: []any{d("x", d("$gt", 1))}},
	{name: "array filters with an idempotent operator", update: d("$set", d("q.$[x]", 10)), arrayFilters: []any{d("x", d("$gt", 1))}},
	{name: "two array filters", update: d("$set", d("q.$[x]", 3, "q.$[y]", 1)), arrayFilters: []any{d("x", 1), d("y", 3)}},
	{name: "a condition", update: d("$inc", d("n", 1)), condition: d("n", d("$gte", 5))},
	{name: "a condition that the update ends", update: d("$set", d("n", 1)), condition: d("n", 5)},
	{name: "a condition that does not hold", update: d("$inc", d("n", 1)), condition: d("n", 6)},
	{name: "a pipeline", update: bson.A{d("$set", d("n", d("$add", bson.A{"$n", 1}))), d("$unset", bson.A{"text"}), d("$addFields", d("m.c", "$n"))}},
	{name: "a pipeline of the client's type", update: official.Pipeline{d("$set", d("n", d("$ifNull", bson.A{"$n", 5})))}},
}

// Each kind of update, with no fault and with a reply lost, leaves the document that one update of a plain client leaves, and is told the same.
func TestEachKindOfUpdate(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		plain, coll := p.open(t, "kinds")
		for i, k := range kinds {
			for _, there := range []bool{true, false} {
				upsert := len(k.condition) == 0 && len(k.arrayFilters) == 0 && k.name != "all elements"
				if !there && !upsert {
					continue
				}
				o := func() *options.UpdateOneOptionsBuilder {
					o := options.UpdateOne().SetUpsert(upsert)
					if k.arrayFilters != nil {
						o.SetArrayFilters(k.arrayFilters)
					}
					return o
				}
				prepare := func(id string) bson.D {
					if there {
						insert(t, plain, d("_id", id, "n", 5, "q", bson.A{3, 1, 2}, "m", d("k", 1), "text", "x"))
					}
					return append(d("_id", id), k.condition...)
				}
				wantResult, err := plain.UpdateOne(t.Context(), prepare(fmt.Sprint("plain", i, there)), k.update, o())
				if err != nil {
					t.Fatalf("%s: the plain update: %v", k.name, err)
				}
				want := fieldsAfter(t, plain, fmt.Sprint("plain", i, there))
				for _, fault := range []int{-1, i % 3} {
					name := fmt.Sprintf("%s, a document is there %v, reply %d is lost", k.name, there, fault)
					id := fmt.Sprint("once", i, there, fault)
					filter := prepare(id)
					end := p.losing(fault)
					result, err := coll.UpdateOne(t.Context(), filter, k.update, o())
					end()
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					counts := []int64{result.MatchedCount + result.UpsertedCount, wantResult.MatchedCount + wantResult.UpsertedCount}
					if counts[0] != counts[1] || fault < 0 && result.MatchedCount != wantResult.MatchedCount {
						t.Errorf("%s: told %+v, want %+v", name, result, wantResult)
					}
					if got := fieldsAfter(t, plain, id); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: the document is %v, want %v", name, got, want)
					}
				}
			}
		}
	})
}

func insert(t *testing.T, plain *official.Collection, document bson.D) {
	t.Helper()
	if _, err := plain.InsertOne(t.Context(), document); err != nil {
		t.Fatal(err)
	}
}

// fieldsAfter returns the fields of a document but its _id and its tokens. A date that the server made is true.
func fieldsAfter(t *testing.T, plain *official.Collection, id any) bson.M {
	t.Helper()
	var m bson.M
	if err := plain.FindOne(t.Context(), d("_id", id)).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if tokens, ok := m["_once"].(bson.D); ok {
		for _, e := range tokens {
			if pending, ok := e.Value.(bson.A); ok && e.Key == "pending" && len(pending) > 0 {
				t.Errorf("%v has pending updates", id)
			}
		}
	}
	delete(m, "_id")
	delete(m, "_once")
	if _, ok := m["at"].(bson.DateTime); ok {
		m["at"] = true
	}
	return m
}

// The _id may be of every BSON type that a server takes and that an equality names. A sweep finds each document.
func TestEachTypeOfID(t *testing.T) {
	decimal, err := bson.ParseDecimal128("1.50")
	if err != nil {
		t.Fatal(err)
	}
	ids := []any{
		"text", "", int32(1), int64(1 << 40), 2.5, decimal, true, nil, bson.DateTime(5),
		bson.Timestamp{T: 1, I: 2},
		bson.NewObjectID(),
		bson.Binary{Subtype: 4, Data: make([]byte, 16)},
		bson.Binary{Data: []byte{}},
		d("a", 1, "b", d("c", 2)),
		bson.D{},
		bson.MinKey{},
		bson.MaxKey{},
		bson.JavaScript("f()"), bson.Symbol("s"),
		bson.CodeWithScope{Code: "g()", Scope: bson.D{}},
		d("at", time.Unix(1, 0).UTC(), "l", bson.A{1, bson.A{}}),
	}
	everywhere(t, func(t *testing.T, p *place) {
		plain, coll := p.open(t, "ids")
		for _, id := range ids {
			for _, filter := range []bson.D{d("_id", id), d("_id", d("$eq", id))} {
				end := p.server.Use("update", secondStepsRefused)
				_, err := coll.UpdateOne(t.Context(), filter, d("$inc", d("n", 1)), options.UpdateOne().SetUpsert(true))
				end()
				if err == nil {
					t.Fatal("the second step was not refused")
				}
				sweepAll(t, coll, 1)
			}
			if _, err := coll.UpdateOne(t.Context(), d("_id", id), d("$inc", d("n", 1))); err != nil {
				t.Error(err)
			}
			var all []struct{ N int }
			cursor, err := plain.Find(t.Context(), bson.D{})
			if err != nil {
				t.Fatal(err)
			}
			if err := cursor.All(t.Context(), &all); err != nil || len(all) != 1 || all[0].N != 3 {
				t.Errorf("the _id %v (%T): %v, %v", id, id, all, err)
			}
			if r, err := coll.DeleteOne(t.Context(), d("_id", id)); err != nil || r.DeletedCount != 1 {
				t.Errorf("the _id %v (%T): deleted %+v, %v", id, id, r, err)
			}
		}
	})
}

package once_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// price is a type that a program encodes in its own way.
type price struct{ cents int64 }

// oddRegistry encodes dates as text, ids as numbers, and prices.
func oddRegistry() *bson.Registry {
	r := bson.NewRegistry()
	r.RegisterTypeEncoder(reflect.TypeFor[time.Time](), bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
		return w.WriteString(v.Interface().(time.Time).Format(time.RFC3339))
	}))
	r.RegisterTypeEncoder(reflect.TypeFor[bson.ObjectID](), bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, _ reflect.Value) error {
		return w.WriteInt32(7)
	}))
	r.RegisterTypeEncoder(reflect.TypeFor[price](), bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
		return w.WriteInt64(v.Interface().(price).cents)
	}))
	return r
}

// Tokens are encoded alike by all clients: a sweep finds those of a client with a registry and BSON options of its own.
func TestTokensDoNotDependOnTheClientsEncoding(t *testing.T) {
	odd := func(o *options.ClientOptions) {
		o.SetRegistry(oddRegistry()).SetBSONOptions(&options.BSONOptions{UseJSONStructTags: true, StringifyMapKeysWithFmt: true, ObjectIDAsHexString: true})
	}
	for _, upserts := range []bool{false, true} {
		inWorld(t, once.Options{}, func(w *world) {
			if !upserts {
				w.insert(d("_id", 1, "n", 0))
			}
			w.record(map[int]mongotest.Fault{1: requestLost, 2: requestLost})
			if _, err := w.UpdateOne(w.t.Context(), one, increment, options.UpdateOne().SetUpsert(upserts)); err == nil {
				w.t.Fatal("the second step was not lost")
			}
			token := w.server.ReadAll("app.counters")[0].Lookup("_once", "pending", "0")
			if at, id := token.Document().Lookup("at"), token.Document().Lookup("id"); at.Type != bson.TypeDateTime || id.Type != bson.TypeObjectID {
				w.t.Errorf("the token is %v", token)
			}
			<-time.After(time.Minute)
			if r := w.sweep(w.t.Context()); r.Applied != 1 {
				w.t.Errorf("%+v", r)
			}
			if _, err := w.UpdateOne(w.t.Context(), one, bson.A{d("$set", d("n", d("$add", bson.A{"$n", 1})))}); err != nil {
				w.t.Error(err)
			}
			if n := w.n(); n != 2 {
				w.t.Errorf("n is %d, want 2", n)
			}
		}, odd)
	}
}

// Options.Registry encodes the arguments, of every method.
func TestTheRegistryOfTheArguments(t *testing.T) {
	inWorld(t, once.Options{Registry: oddRegistry()}, func(w *world) {
		ctx, five, byFive := w.t.Context(), price{5}, d("_id", price{5})
		if _, err := w.InsertOne(ctx, d("_id", five, "l", bson.A{five})); err != nil {
			w.t.Fatal(err)
		}
		for name, write := range map[string]func() (*mongo.UpdateResult, error){
			"two steps": func() (*mongo.UpdateResult, error) { return w.UpdateOne(ctx, byFive, d("$inc", d("n", five))) },
			"one step":  func() (*mongo.UpdateResult, error) { return w.UpdateOne(ctx, byFive, d("$set", d("a", five))) },
			"many":      func() (*mongo.UpdateResult, error) { return w.UpdateMany(ctx, byFive, d("$set", d("b", five))) },
			"array filters": func() (*mongo.UpdateResult, error) {
				return w.UpdateMany(ctx, byFive, d("$set", d("l.$[e]", five)), filtered(five))
			},
		} {
			if r, err := write(); err != nil || r.MatchedCount != 1 {
				w.t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
		cursor, err := w.Find(ctx, d("_id", five, "a", five, "b", five, "n", five, "l", bson.A{five}))
		if err != nil || !cursor.Next(ctx) {
			w.t.Errorf("the document is not found: %v; %v", err, w.server.ReadAll("app.counters"))
		}
		if r, err := w.DeleteOne(ctx, byFive); err != nil || r.DeletedCount != 1 {
			w.t.Errorf("%+v, %v", r, err)
		}
	})
}

func filtered(v any) *options.UpdateManyOptionsBuilder {
	return options.UpdateMany().SetArrayFilters([]any{d("e", v)})
}

// The bytes that a token takes besides its update, and those of the finished ids, are what the documentation says.
func TestTheBytesInTheDocument(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		size := func() int { return len(w.server.ReadAll("app.counters")[0]) }
		plain := size()
		w.abandonAll(2, increment) // of the documents 0 and 1
		update, err := bson.Marshal(increment)
		if err != nil {
			w.t.Fatal(err)
		}
		pending := 0
		for _, document := range w.server.ReadAll("app.counters") {
			if document.Lookup("_id").AsInt64() == 1 {
				pending = len(document) - plain - len(update)
			}
		}
		if pending != 88 {
			w.t.Errorf("the token takes %d bytes more than its update", pending)
		}
		for i := range 64 {
			if _, err := w.UpdateOne(w.t.Context(), d("_id", 2), increment, upsert); err != nil {
				w.t.Fatal(i, err)
			}
		}
		for _, document := range w.server.ReadAll("app.counters") {
			if list, ok := document.Lookup("_once", "finished").ArrayOK(); ok && len(list) != 507 {
				w.t.Errorf("32 finished ids take %d bytes", len(list))
			}
		}
	})
}

// The document remembers no more finished updates than it is told to, by operators and by pipelines, and the newest ones.
func TestTheLengthOfTheFinishedList(t *testing.T) {
	const remembered = 3
	for _, update := range []any{increment, bson.A{d("$set", d("n", d("$add", bson.A{"$n", 1})))}} {
		inWorld(t, once.Options{Finished: remembered}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			var ids []bson.ObjectID
			for range 2 * remembered {
				ids = append(ids, bson.NewObjectID())
				if _, err := w.UpdateOneAs(w.t.Context(), ids[len(ids)-1], one, update); err != nil {
					w.t.Fatal(err)
				}
			}
			var document struct {
				Once struct{ Finished []bson.ObjectID } `bson:"_once"`
			}
			if err := w.plain.FindOne(w.t.Context(), one).Decode(&document); err != nil || !reflect.DeepEqual(document.Once.Finished, ids[remembered:]) {
				w.t.Errorf("%v are remembered, want %v; %v", document.Once.Finished, ids[remembered:], err)
			}
		})
	}
}

// One id may be used for several documents, once each.
func TestOneIDForTwoDocuments(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		id := bson.NewObjectID()
		end := w.server.Use("update", mongotest.While(isSecondStep, requestLost))
		for i := range 2 {
			if _, err := w.UpdateOneAs(w.t.Context(), id, d("_id", i), increment, upsert); err == nil {
				w.t.Fatal("the second step was not lost")
			}
		}
		end()
		<-time.After(time.Minute)
		if r := w.sweep(w.t.Context()); r.Tokens != 2 || r.Applied != 2 || r.Documents != 2 {
			w.t.Errorf("%+v", r)
		}
	})
}

func isSecondStep(r *mongotest.Request) bool {
	_, first := r.Body.Lookup("updates", "0", "u", "$push", "_once.pending").DocumentOK()
	return !first
}

// All calls with one id are told the same: of a refusal, and of a condition that did not hold.
func TestTheSecondCallIsToldTheSame(t *testing.T) {
	steps := map[string]struct {
		filter, update any
		change         bson.D // between the steps of the first call
		refused        bool
	}{
		"a refusal":                 {one, d("$inc", d("text", 1)), nil, true},
		"a refusal, in a condition": {d("_id", 1, "n", 7), d("$inc", d("text", 1)), nil, true},
		"a condition":               {d("_id", 1, "n", 7), increment, d("$set", d("n", 2)), false},
	}
	for name, c := range steps {
		t.Run(name, func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				w.insert(d("_id", 1, "n", 7, "text", "x"))
				w.record(map[int]mongotest.Fault{0: {After: func() {
					if c.change != nil {
						w.command(d("q", one, "u", c.change))
					}
				}}})
				id := bson.NewObjectID()
				for call := range 3 {
					r, err := w.UpdateOneAs(w.t.Context(), id, c.filter, c.update)
					var failed *once.Error
					switch {
					case c.refused && (!errors.As(err, &failed) || failed.State != once.NotApplied || strings.Contains(err.Error(), "earlier call") != (call > 0)):
						w.t.Errorf("call %d: %v; want that it is not applied", call, err)
					case !c.refused && (err != nil || r.MatchedCount != 0 || r.ModifiedCount != 0):
						w.t.Errorf("call %d: %+v, %v; want no match", call, r, err)
					}
				}
			})
		})
	}
}

// command sends an update statement beside the client.
func (w *world) command(statement any) {
	w.t.Helper()
	if _, err := w.server.Command(0, "app", d("update", "counters", "updates", bson.A{statement})); err != nil {
		w.t.Error(err)
	}
}

// Two calls with one id at the same time: one is refused by the document, the other one finds its token ended.
func TestACallWhoseTokenWasEndedByAnother(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "text", "x"))
		id := bson.NewObjectID()
		inner := error(nil)
		w.record(map[int]mongotest.Fault{0: {After: func() {
			_, inner = w.UpdateOneAs(context.Background(), id, one, d("$inc", d("text", 1)))
		}}})
		_, outer := w.UpdateOneAs(w.t.Context(), id, one, d("$inc", d("text", 1)))
		for _, err := range []error{inner, outer} {
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != once.NotApplied {
				w.t.Errorf("%v; want that it is not applied", err)
			}
		}
	})
}

// The document refuses the update, and that cannot be written down: the update is still pending, or nobody knows.
func TestARefusalThatCannotBeWritten(t *testing.T) {
	notAuthorized := mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}
	for _, c := range []struct {
		faults map[int]mongotest.Fault
		state  once.State
		says   string
	}{
		{map[int]mongotest.Fault{2: notAuthorized}, once.Pending, "not authorized"},
		{map[int]mongotest.Fault{2: requestLost, 3: requestLost}, once.Unknown, ""},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "text", "x"))
			w.record(c.faults)
			_, err := w.UpdateOne(w.t.Context(), one, d("$inc", d("text", 1)))
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != c.state || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "non-numeric") {
				w.t.Errorf("%v; want the state %v", err, c.state)
			}
			w.expect("then", 0, 1)
		})
	}
}

// The document refuses the update, changes before the update is ended, and a sweep applies it: this is a success.
func TestARefusalThatASweepOvertakes(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", "text"))
		w.record(map[int]mongotest.Fault{2: {Before: func() {
			w.command(d("q", one, "u", d("$set", d("n", 4))))
			<-time.After(time.Second) // the token grows old
			if r := w.sweep(context.Background()); r.Applied != 1 {
				w.t.Errorf("%+v", r)
			}
		}}})
		if r, err := w.UpdateOne(w.t.Context(), one, increment); err != nil || r.MatchedCount != 1 {
			w.t.Errorf("%+v, %v", r, err)
		}
		w.expect("then", 5, 0)
	})
}

// Another call with the id marks the document again after it was replaced: the first call is told that the update is pending.
func TestATokenThatComesBack(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		m := w.record(map[int]mongotest.Fault{0: {After: func() { w.command(d("q", one, "u", d("n", 9))) }}})
		w.server.Use("find", mongotest.FaultOnce(mongotest.Fault{Before: func() {
			w.command(m.statement(0))
		}}))
		_, err := w.UpdateOne(w.t.Context(), one, increment)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.Pending {
			w.t.Errorf("%v; want that it is pending", err)
		}
	})
}

// A read that fails leaves the outcome unknown, whatever its own error says.
func TestTheOutcomeCannotBeRead(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		w.record(map[int]mongotest.Fault{1: replyLost})
		w.server.Use("find", mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}))
		_, err := w.UpdateOne(w.t.Context(), one, increment)
		var failed *once.Error
		var cause mongo.CommandError
		if !errors.As(err, &failed) || failed.State != once.Unknown || !errors.As(err, &cause) || cause.Code != 13 {
			w.t.Errorf("%v; want the state unknown, and the read's error", err)
		}
	})
}

// Two array filters can undo each other the second time, so $set has two steps with them, and one with one.
func TestArrayFiltersOfAnIdempotentUpdate(t *testing.T) {
	swap := options.UpdateOne().SetArrayFilters([]any{d("x", 2), d("y", 1)})
	for name, c := range map[string]struct {
		update   bson.D
		opts     *options.UpdateOneOptionsBuilder
		messages int
		want     bson.A
	}{
		"one": {d("$set", d("q.$[x]", 5)), options.UpdateOne().SetArrayFilters([]any{d("x", 2)}), 2, bson.A{int32(1), int32(5)}},
		"two": {d("$set", d("q.$[x]", 1, "q.$[y]", 2)), swap, 3, bson.A{int32(2), int32(1)}},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "q", bson.A{1, 2}))
			m := w.record(map[int]mongotest.Fault{0: replyLost})
			if _, err := w.UpdateOne(w.t.Context(), one, c.update, c.opts); err != nil || m.count() != c.messages {
				w.t.Errorf("%s: %v after %d messages", name, err, m.count())
			}
			var got struct{ Q bson.A }
			if err := w.plain.FindOne(w.t.Context(), one).Decode(&got); err != nil || !reflect.DeepEqual(got.Q, c.want) {
				w.t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
			}
		})
	}
}

// $rename moves its field once.
func TestRename(t *testing.T) {
	for fault := range 3 {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 1, "old", 4))
			w.record(map[int]mongotest.Fault{fault: replyLost})
			if _, err := w.UpdateOne(w.t.Context(), one, d("$rename", d("old", "new"), "$inc", d("n", 1))); err != nil {
				w.t.Fatal(err)
			}
			document := w.server.ReadAll("app.counters")[0]
			if !document.Lookup("old").IsZero() || document.Lookup("new").AsInt64() != 4 || w.n() != 2 {
				w.t.Errorf("reply %d is lost: %v", fault, document)
			}
		})
	}
}

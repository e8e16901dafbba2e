package once_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

var (
	requestLost = mongotest.Fault{LoseRequest: true}
	replyLost   = mongotest.Fault{LoseReply: true}
	overloaded  = mongotest.Fault{Error: &mongotest.CommandError{
		Code: 462, Message: "too many requests", Labels: []string{"SystemOverloadedError", "RetryableError"},
	}}
)

// One fault at any message of an update does no harm; two at the attempts of one step are an error, after which a sweep makes the state true.
func TestLostMessages(t *testing.T) {
	for _, inserts := range []bool{false, true} {
		for name, faults := range map[string]map[int]mongotest.Fault{
			"no fault":                            {},
			"first step, request":                 {0: requestLost},
			"first step, reply":                   {0: replyLost},
			"second step, request":                {1: requestLost},
			"second step, reply":                  {1: replyLost},
			"both steps, requests":                {0: requestLost, 2: requestLost},
			"both steps, request and then reply":  {0: requestLost, 2: replyLost},
			"both steps, reply and then request":  {0: replyLost, 2: requestLost},
			"both steps, replies":                 {0: replyLost, 2: replyLost},
			"first step, its retry too":           {0: requestLost, 1: requestLost},
			"first step, the reply to a retry":    {0: requestLost, 1: replyLost},
			"first step, both replies":            {0: replyLost, 1: replyLost},
			"second step, its retry too":          {1: requestLost, 2: requestLost},
			"second step, the reply to its retry": {1: requestLost, 2: replyLost},
			"second step, both replies":           {1: replyLost, 2: replyLost},
			"first step, an overloaded server":    {0: overloaded},
			"second step, an overloaded server":   {1: overloaded},
		} {
			t.Run(fmt.Sprintf("%s, upsert %v", name, inserts), func(t *testing.T) {
				inWorld(t, once.Options{}, func(w *world) {
					if !inserts {
						w.insert(d("_id", 1, "n", 0))
					}
					w.record(faults)
					result, err := w.UpdateOne(w.t.Context(), one, increment, options.UpdateOne().SetUpsert(inserts))
					<-time.After(time.Minute)
					w.sweep(w.t.Context())
					var failed *once.Error
					switch {
					case err != nil && strings.Contains(name, "overloaded"):
						w.t.Errorf("%v; want another attempt", err)
					case err == nil && result.MatchedCount+result.UpsertedCount != 1:
						w.t.Errorf("%+v", result)
					case err == nil:
						w.expect("after a success", 1, 0)
					case !errors.As(err, &failed) || failed.State != once.Unknown:
						w.t.Errorf("%v; want the state unknown", err)
					case name == "first step, its retry too":
						if n, _ := w.plain.CountDocuments(w.t.Context(), d("n", 1)); n != 0 {
							w.t.Error("an update that was never sent is applied")
						}
					default:
						w.expect("after an error and a sweep", 1, 0)
					}
					if again := w.sweep(w.t.Context()); again.Tokens != 0 {
						w.t.Errorf("a second sweep found %+v", again)
					}
				})
			})
		}
	}
}

// The article's form has a hole here: a first step that is delayed beyond its retry puts a finished token back.
func TestADelayedFirstStep(t *testing.T) {
	for _, inserts := range []bool{false, true} {
		inWorld(t, once.Options{}, func(w *world) {
			if !inserts {
				w.insert(d("_id", 1, "n", 0))
			}
			m := w.record(map[int]mongotest.Fault{0: requestLost})
			if _, err := w.UpdateOne(w.t.Context(), one, increment, options.UpdateOne().SetUpsert(inserts)); err != nil {
				w.t.Fatal(err)
			}
			err := w.repeat(m, 0)
			if duplicate := mongo.IsDuplicateKeyError(err); duplicate != inserts {
				w.t.Errorf("upsert %v: the delayed step returned %v", inserts, err)
			}
			<-time.After(time.Hour)
			w.sweep(w.t.Context())
			w.expect("after the delayed step and a sweep", 1, 0)
		})
	}
}

// The guarantee ends where the document has forgotten the token: after as many later updates as it remembers.
func TestTheLimitOfTheGuarantee(t *testing.T) {
	const remembered = 3
	for later := range 5 {
		inWorld(t, once.Options{Finished: remembered}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			m := w.record(nil)
			for range 1 + later {
				if _, err := w.UpdateOne(w.t.Context(), one, increment); err != nil {
					w.t.Fatal(err)
				}
			}
			if err := w.repeat(m, 0); err != nil {
				w.t.Fatal(err)
			}
			<-time.After(time.Hour)
			w.sweep(w.t.Context())
			want := 1 + later
			if later >= remembered {
				want++
			}
			w.expect(fmt.Sprintf("after %d later updates", later), want, 0)
		})
	}
}

// Updates that do no harm the second time are one command, and leave no token.
func TestIdempotentUpdatesAreSentAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		update   any
		messages int
	}{
		{d("$set", d("a", 1)), 1},
		{d("$unset", d("a", ""), "$min", d("n", 1), "$max", d("m", 2)), 1},
		{d("$addToSet", d("l", 1), "$pull", d("p", 1)), 1},
		{d("$pullAll", d("l", bson.A{1}), "$rename", d("x", "y"), "$currentDate", d("at", true)), 1},
		{d("$bit", d("b", d("and", 1, "or", 6))), 1},
		{d("$setOnInsert", d("a", 1)), 1},
		{d("$bit", d("b", d("xor", 1))), 2},
		{d("$set", d("a", 1), "$inc", d("n", 1)), 2},
		{d("$push", d("q", 1)), 2},
		{d("$pop", d("q", 1)), 2},
		{d("$mul", d("n", 2)), 2},
		{bson.A{d("$set", d("a", d("$add", bson.A{1, "$n"})))}, 2},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 0, "l", bson.A{1, 2}))
			m := w.record(nil)
			if _, err := w.UpdateOne(w.t.Context(), one, c.update); err != nil || m.count() != c.messages {
				w.t.Errorf("%v: %d messages, %v; want %d", c.update, m.count(), err, c.messages)
			}
			if n := len(w.counter().Once.Pending); n != 0 {
				w.t.Errorf("%v: %d tokens are left", c.update, n)
			}
		})
	}
}

// A lost reply to a pipeline, an operator that the token's own operators join, and array filters.
func TestEachKindOfUpdateIsAppliedOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		update any
		opts   *options.UpdateOneOptionsBuilder
		want   bson.D
	}{
		{"a pipeline", bson.A{d("$set", d("n", d("$add", bson.A{"$n", 5}))), d("$unset", "gone")}, options.UpdateOne(), d("n", 6, "q", bson.A{1, 2})},
		{"$push and $pull", d("$push", d("q", 3), "$pull", d("gone", 1)), options.UpdateOne(), d("n", 1, "q", bson.A{1, 2, 3}, "gone", bson.A{})},
		{
			"array filters", d("$inc", d("q.$[e]", 10)), options.UpdateOne().SetArrayFilters([]any{d("e", d("$gt", 1))}),
			d("n", 1, "q", bson.A{1, 12}, "gone", bson.A{1}),
		},
	} {
		for fault := range 3 {
			inWorld(t, once.Options{}, func(w *world) {
				w.insert(d("_id", 1, "n", 1, "q", bson.A{1, 2}, "gone", bson.A{1}))
				w.record(map[int]mongotest.Fault{fault: replyLost})
				if _, err := w.UpdateOne(w.t.Context(), one, c.update, c.opts); err != nil {
					w.t.Fatalf("%s: %v", c.name, err)
				}
				var got bson.D
				o := options.FindOne().SetProjection(d("_id", 0, "_once", 0))
				if err := w.plain.FindOne(w.t.Context(), one, o).Decode(&got); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
					w.t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
				}
			})
		}
	}
}

// A condition besides the _id must hold when the update is applied. A document that does not match is no error.
func TestConditions(t *testing.T) {
	enough := d("_id", 1, "n", d("$gte", 5))
	take := d("$inc", d("n", -5))
	t.Run("it does not hold", func(t *testing.T) {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 4))
			if r, err := w.UpdateOne(w.t.Context(), enough, take); err != nil || r.MatchedCount != 0 {
				w.t.Errorf("%+v, %v", r, err)
			}
			w.expect("then", 4, 0)
		})
	})
	for _, fault := range []int{-1, 0, 1, 2, 3} {
		t.Run(fmt.Sprintf("it no longer holds at the second step, reply %d is lost", fault), func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				w.insert(d("_id", 1, "n", 7))
				m := w.record(map[int]mongotest.Fault{fault: replyLost})
				taken := false
				w.server.Use("update", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
					if _, first := r.Body.Lookup("updates", "0", "u", "$push", "_once.pending").DocumentOK(); !first || taken {
						return mongotest.Fault{}
					}
					taken = true
					return mongotest.Fault{After: func() {
						set := d("q", one, "u", d("$set", d("n", 2)))
						if _, err := w.server.Command(0, "app", d("update", "counters", "updates", bson.A{set})); err != nil {
							w.t.Error(err)
						}
					}}
				}))
				r, err := w.UpdateOne(w.t.Context(), enough, take)
				if err != nil || r.MatchedCount != 0 {
					w.t.Errorf("%+v, %v after %d messages", r, err, m.count())
				}
				w.expect("then", 2, 0)
			})
		})
	}
}

// A comparison with a version is exact though its operators are idempotent: after a lost reply its own change is no reason to report that
// nothing matched.
func TestAConditionThatTheUpdateItselfEnds(t *testing.T) {
	for fault := range 3 {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 3))
			w.record(map[int]mongotest.Fault{fault: replyLost})
			r, err := w.UpdateOne(w.t.Context(), d("_id", 1, "n", 3), d("$set", d("n", 4)))
			if err != nil || r.MatchedCount != 1 {
				w.t.Errorf("reply %d is lost: %+v, %v", fault, r, err)
			}
			w.expect("then", 4, 0)
		})
	}
}

// The document refuses the update: nothing is pending, and the id is not applied later.
func TestARefusedUpdate(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 1, "text", "x"))
		m := w.record(nil)
		id := bson.NewObjectID()
		for range 2 {
			_, err := w.UpdateOneAs(w.t.Context(), id, one, d("$inc", d("text", 1)))
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != once.NotApplied || failed.ID != id {
				w.t.Errorf("%v; want that it is not applied", err)
			}
		}
		if err := w.repeat(m, 0); err != nil {
			w.t.Error(err)
		}
		w.expect("then", 1, 0)
	})
}

// All calls with one id apply the update once.
func TestTheCallersID(t *testing.T) {
	for _, update := range []any{increment, d("$set", d("n", 1))} {
		inWorld(t, once.Options{}, func(w *world) {
			id := bson.NewObjectID()
			for i := range 3 {
				r, err := w.UpdateOneAs(w.t.Context(), id, one, update, upsert)
				if err != nil || r.MatchedCount+r.UpsertedCount != 1 {
					w.t.Errorf("call %d: %+v, %v", i, r, err)
				}
				<-time.After(time.Second)
			}
			w.expect("after three calls", 1, 0)
		})
	}
}

// Each form of a filter names its document in both steps and in the read between them.
func TestFiltersThatNameTheDocument(t *testing.T) {
	for _, c := range []struct {
		id     any
		filter any
	}{
		{1, d("_id", d("$eq", 1))},
		{d("k", 1), d("_id", bson.M{"k": 1})},
		{1, bson.M{"_id": 1, "n": d("$lt", 1)}},
		{1, struct {
			ID int `bson:"_id"`
		}{1}},
		{nil, d("_id", nil)},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", c.id, "n", 0))
			w.record(map[int]mongotest.Fault{1: replyLost})
			if r, err := w.UpdateOne(w.t.Context(), c.filter, increment); err != nil || r.MatchedCount != 1 || w.n() != 1 {
				w.t.Errorf("%v: %+v, %v, n is %d", c.filter, r, err, w.n())
			}
		})
	}
}

// An idempotent update may name its document by a unique key, and insert it.
func TestAnIdempotentUpdateByAUniqueKey(t *testing.T) {
	inWorld(t, once.Options{UniqueKeys: []string{"key"}}, func(w *world) {
		w.insert(d("_id", 1, "key", "a"))
		for _, key := range []string{"a", "b"} {
			w.record(map[int]mongotest.Fault{0: replyLost})
			if r, err := w.UpdateOne(w.t.Context(), d("key", key), d("$set", d("keyed", 1)), upsert); err != nil || r.MatchedCount != 1 {
				w.t.Errorf("%s: %+v, %v", key, r, err)
			}
		}
		if n := len(w.server.ReadAll("app.counters")); n != 2 {
			w.t.Errorf("%d documents, want 2", n)
		}
	})
}

// There is no document, and no upsert. After an attempt without an answer nobody knows: it may come when the document is there.
func TestNoDocument(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		for _, lost := range []int{0, 1} {
			w.server.Use("update", mongotest.Times(lost, requestLost))
			r, err := w.UpdateOne(w.t.Context(), one, increment)
			var failed *once.Error
			switch {
			case lost == 0 && (err != nil || r.MatchedCount != 0):
				w.t.Errorf("UpdateOne: %+v, %v", r, err)
			case lost > 0 && (!errors.As(err, &failed) || failed.State != once.Unknown): // the first attempt may come later
				w.t.Errorf("UpdateOne, %d lost: %+v, %v", lost, r, err)
			}
			if m := w.record(nil); lost == 0 {
				if _, err := w.UpdateOne(w.t.Context(), one, increment); err != nil || m.count() != 1 {
					w.t.Errorf("UpdateOne: %v after %d messages", err, m.count())
				}
			}
			if r, err := w.UpdateOneAs(w.t.Context(), bson.NewObjectID(), one, increment); err != nil || r.MatchedCount != 0 {
				w.t.Errorf("UpdateOneAs, %d lost: %+v, %v", lost, r, err)
			}
		}
	})
}

// A caller that leaves between the steps is told that the update is pending, by its token. The next call with it finishes the update.
func TestTheCallerLeavesBetweenTheSteps(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		ctx, cancel := context.WithCancel(w.t.Context())
		w.record(map[int]mongotest.Fault{1: {Before: cancel, LoseRequest: true}})
		_, err := w.UpdateOne(ctx, one, increment)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.Unknown || !errors.Is(err, context.Canceled) {
			w.t.Fatalf("%v", err)
		}
		w.expect("after the caller has left", 0, 1)
		if _, err := w.UpdateOneAs(w.t.Context(), failed.ID, one, increment); err != nil {
			w.t.Error(err)
		}
		w.expect("after a call with the same id", 1, 0)
	})
}

// $setOnInsert belongs to the first step, which inserts.
func TestSetOnInsert(t *testing.T) {
	both := d("$inc", d("n", 1), "$setOnInsert", d("made", true))
	for fault := range 3 {
		inWorld(t, once.Options{}, func(w *world) {
			w.record(map[int]mongotest.Fault{fault: replyLost})
			for range 2 {
				if _, err := w.UpdateOne(w.t.Context(), one, both, upsert); err != nil {
					w.t.Fatal(err)
				}
			}
			var c struct {
				N    int
				Made bool
			}
			if err := w.plain.FindOne(w.t.Context(), one).Decode(&c); err != nil || c.N != 2 || !c.Made {
				w.t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// A document that lost the token, or is gone.
func TestADocumentThatChangesBetweenTheSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*mongo.Collection) error
	}{
		{"it is deleted", func(c *mongo.Collection) error { _, err := c.DeleteOne(context.Background(), one); return err }},
		{"it is replaced", func(c *mongo.Collection) error {
			_, err := c.ReplaceOne(context.Background(), one, d("n", 9))
			return err
		}},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			w.record(map[int]mongotest.Fault{0: {After: func() {
				if err := c.change(w.plain); err != nil {
					w.t.Error(err)
				}
			}}})
			_, err := w.UpdateOne(w.t.Context(), one, increment)
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != once.Unknown {
				w.t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}

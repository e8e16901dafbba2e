package mongo_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

type models = []mongo.WriteModel

func insertOf(id any) mongo.WriteModel { return mongo.NewInsertOneModel().SetDocument(doc("_id", id)) }

func updateOneOf(filter, update d) *mongo.UpdateOneModel {
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(update)
}

func updateManyOf(filter, update d) *mongo.UpdateManyModel {
	return mongo.NewUpdateManyModel().SetFilter(filter).SetUpdate(update)
}

func deleteOneOf(filter d) mongo.WriteModel  { return mongo.NewDeleteOneModel().SetFilter(filter) }
func deleteManyOf(filter d) mongo.WriteModel { return mongo.NewDeleteManyModel().SetFilter(filter) }

var set1 = doc("$set", doc("a", 1))

// shape returns for each command its name and its number of statements, with a mark if it has a transaction number.
func shape(events []*event.CommandStartedEvent) []string {
	var out []string
	for _, ev := range events {
		for name, identifier := range map[string]string{"insert": "documents", "update": "updates", "delete": "deletes"} {
			if ev.CommandName != name {
				continue
			}
			array, _ := ev.Command.Lookup(identifier).Array().Values()
			text := name + strings.Repeat(".", len(array))
			if _, err := ev.Command.LookupErr("txnNumber"); err == nil {
				text += " retryable"
			}
			out = append(out, text)
		}
	}
	return out
}

func TestBulkWriteCommands(t *testing.T) {
	mixed := func() models {
		return models{
			insertOf(1), insertOf(2), updateOneOf(doc("_id", 1), set1),
			mongo.NewReplaceOneModel().SetFilter(doc("_id", 2)).SetReplacement(doc("b", 1)),
			updateManyOf(doc(), set1), insertOf(3), deleteOneOf(doc("_id", 3)), deleteManyOf(doc("_id", 9)), deleteOneOf(doc("_id", 2)),
		}
	}
	for _, c := range []struct {
		name    string
		ordered bool
		want    []string
	}{
		{
			"ordered: one command for each run of models of one kind", true,
			[]string{"insert.. retryable", "update.. retryable", "update.", "insert. retryable", "delete. retryable", "delete.", "delete. retryable"},
		},
		{
			"unordered: one command for each kind", false,
			[]string{"insert... retryable", "update.. retryable", "update.", "delete.. retryable", "delete."},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				r, err := w.coll.BulkWrite(w.ctx, mixed(), options.BulkWrite().SetOrdered(c.ordered))
				w.must(err)
				if got := shape(w.started("")); !slices.Equal(got, c.want) {
					t.Errorf("commands %q, want %q", got, c.want)
				}
				matched := int64(4)
				if !c.ordered {
					matched = 5
				}
				if r.InsertedCount != 3 || r.MatchedCount != matched || r.DeletedCount != 2 || r.UpsertedCount != 0 || !r.Acknowledged {
					t.Errorf("result %+v", r)
				}
			})
		})
	}
}

func TestBulkWriteUpsertsHaveTheModelsIndexes(t *testing.T) {
	in(t, nil, func(w *world) {
		r, err := w.coll.BulkWrite(w.ctx, models{
			insertOf(1),
			updateManyOf(doc("_id", 8), set1).SetUpsert(true),
			updateOneOf(doc("_id", 1), set1).SetUpsert(true),
			updateOneOf(doc("_id", 7), set1).SetUpsert(true),
		}, options.BulkWrite().SetOrdered(false))
		w.must(err)
		want := map[int64]any{1: int32(8), 3: int32(7)}
		if !maps.Equal(r.UpsertedIDs, want) || r.UpsertedCount != 2 || r.MatchedCount != 1 || r.ModifiedCount != 1 {
			t.Errorf("result %+v", r)
		}
	})
}

// Errors have the index and the model of the caller's slice, in whichever command the model is.
func TestBulkWriteErrorsHaveTheModelsIndexes(t *testing.T) {
	tooLarge := mongo.NewUpdateOneModel().SetFilter(doc("_id", 2)).SetUpdate(doc("$set", doc("pad", strings.Repeat("x", 17<<20))))
	for _, c := range []struct {
		name     string
		ordered  bool
		models   models
		failed   []int
		inserted int64
	}{
		{"ordered", true, models{insertOf(1), deleteOneOf(doc("_id", 9)), insertOf(2), insertOf(1), insertOf(3)}, []int{3}, 2},
		{"unordered", false, models{insertOf(1), deleteOneOf(doc("_id", 9)), insertOf(2), insertOf(1), insertOf(3)}, []int{3}, 3},
		{"ordered, a model that is too large", true, models{insertOf(1), tooLarge, insertOf(2)}, []int{1}, 1},
		{"unordered, a model that is too large", false, models{insertOf(1), tooLarge, insertOf(2), insertOf(1)}, []int{3, 1}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				r, err := w.coll.BulkWrite(w.ctx, c.models, options.BulkWrite().SetOrdered(c.ordered))
				e := bulk(t, err)
				if got := indexes(e); !slices.Equal(got, c.failed) || r.InsertedCount != c.inserted {
					t.Errorf("errors at %v, want %v; inserted %d: %v", got, c.failed, r.InsertedCount, err)
				}
				for _, we := range e.WriteErrors {
					if we.Request != c.models[we.Index] {
						t.Errorf("the request of error %d is %v", we.Index, we.Request)
					}
				}
			})
		})
	}
}

func TestBulkWriteOptions(t *testing.T) {
	collation := &options.Collation{Locale: "en", Strength: 2}
	in(t, nil, func(w *world) {
		_, err := w.coll.BulkWrite(w.ctx, models{
			mongo.NewInsertOneModel().SetDocument(doc("_id", 1, "x", bson.A{1})),
			updateOneOf(doc("_id", 1), doc("$set", doc("x.$[i]", 1))).SetArrayFilters([]any{doc("i", 1)}).SetHint("_id_").SetSort(doc("_id", 1)).
				SetUpsert(false),
			updateOneOf(doc("_id", 1), set1).SetCollation(collation),
			mongo.NewDeleteOneModel().SetFilter(doc("_id", 1)).SetHint(doc("_id", 1)).SetCollation(collation),
		}, options.BulkWrite().SetComment("why").SetLet(doc("v", 1)).SetBypassDocumentValidation(true))
		w.must(err)
		want := map[string][]string{
			"insert": {"comment", "bypassDocumentValidation"},
			"update": {"comment", "let", "bypassDocumentValidation"},
			"delete": {"comment", "let"},
		}
		for _, ev := range w.started("") {
			for _, field := range []string{"comment", "let", "bypassDocumentValidation"} {
				_, err := ev.Command.LookupErr(field)
				if has := err == nil; want[ev.CommandName] != nil && has != slices.Contains(want[ev.CommandName], field) {
					t.Errorf("%s has %s: %t", ev.CommandName, field, has)
				}
			}
		}
		for _, field := range []string{"arrayFilters", "hint", "sort", "upsert"} {
			if _, err := w.started("update")[0].Command.LookupErr("updates", "0", field); err != nil {
				t.Errorf("the update has no %s", field)
			}
		}
		for _, field := range []string{"hint", "collation"} {
			if _, err := w.started("delete")[0].Command.LookupErr("deletes", "0", field); err != nil {
				t.Errorf("the delete has no %s", field)
			}
		}
	}, mongotest.Version("8.0"))
}

// The arguments are checked before any network use.
func TestBulkWriteRefusesWrongModels(t *testing.T) {
	var nilModel *mongo.InsertOneModel
	for _, c := range []struct {
		name   string
		models models
		is     error
		text   string
	}{
		{"no models", nil, mongo.ErrEmptySlice, "invalid models: must provide at least one element in input slice"},
		{"an empty slice", models{}, mongo.ErrEmptySlice, "invalid models"},
		{"a nil model", models{insertOf(1), nil}, mongo.ErrNilDocument, "invalid model at index 1: document is nil"},
		{"a nil pointer", models{nilModel}, mongo.ErrNilDocument, "invalid model at index 0: document is nil"},
		{"no document", models{mongo.NewInsertOneModel()}, mongo.ErrNilDocument, "model 0"},
		{"no filter", models{insertOf(1), mongo.NewDeleteOneModel()}, mongo.ErrNilDocument, "model 1"},
		{"no update", models{mongo.NewUpdateOneModel().SetFilter(doc())}, mongo.ErrNilDocument, "model 0"},
		{"an empty update", models{updateOneOf(doc(), doc())}, nil, "update document must have at least one element"},
		{"an update without an operator", models{updateManyOf(doc(), doc("a", 1))}, nil, "update document must contain key beginning with '$'"},
		{
			"a replacement with an operator",
			models{mongo.NewReplaceOneModel().SetFilter(doc()).SetReplacement(set1)},
			nil, "replacement document cannot contain keys beginning with '$'",
		},
		{"a map as sort", models{updateOneOf(doc(), set1).SetSort(bson.M{"a": 1, "b": 1})}, mongo.ErrMapForOrderedArgument{ParamName: "sort"}, "sort"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				r, err := w.coll.BulkWrite(w.ctx, c.models)
				if err == nil || (r != nil && r.InsertedCount != 0) || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("result %v, error %v", r, err)
				}
				if n := len(w.started("")); n != 0 {
					t.Errorf("%d commands were sent", n)
				}
			})
		})
	}
}

// Retryable Writes: a command with UpdateMany or DeleteMany is not retried, the others of the same bulk write are.
func TestBulkWriteRetriesEachCommandByItsOwnRule(t *testing.T) {
	in(t, nil, func(w *world) {
		w.script("update", refuse(91, "RetryableWriteError"))
		_, err := w.coll.BulkWrite(w.ctx, models{insertOf(1), updateOneOf(doc("_id", 1), set1)})
		w.must(err)
		w.forget()
		w.script("update", refuse(91, "RetryableWriteError"))
		r, err := w.coll.BulkWrite(w.ctx, models{insertOf(2), updateManyOf(doc(), set1), insertOf(3)})
		var refused mongo.CommandError
		if !errors.As(err, &refused) || refused.Code != 91 || r == nil || r.InsertedCount != 1 {
			t.Errorf("result %+v, error %v", r, err)
		}
		if got := shape(w.started("")); !slices.Equal(got, []string{"insert. retryable", "update."}) {
			t.Errorf("commands %q", got)
		}
	})
}

func TestAFailedRetryEndsTheBulkWrite(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		in(t, nil, func(w *world) {
			w.script("update", refuse(91, "RetryableWriteError"), refuse(91, "RetryableWriteError"))
			r, err := w.coll.BulkWrite(w.ctx, models{insertOf(1), updateOneOf(doc("_id", 1), set1), deleteOneOf(doc("_id", 1))},
				options.BulkWrite().SetOrdered(ordered))
			var history *retry.Error
			if !errors.As(err, &history) || len(history.Attempts) != 2 || r == nil || r.InsertedCount != 1 {
				t.Errorf("ordered %t: result %+v, error %v", ordered, r, err)
			}
			if n := len(w.started("delete")); n != 0 {
				t.Errorf("ordered %t: the delete was sent", ordered)
			}
		})
	}
}

// The first attempt's counts are those of a write whose write concern failed: it may have been rolled back since.
func TestABulkWriteWhoseRetryHasNoAnswerCountsNothingOfItsFirstAttempt(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"update"}, "writeConcernError",
			doc("code", 91, "errmsg", "scripted", "errorLabels", bson.A{"RetryableWriteError"}))))
		w.script("update", mongotest.Fault{}, loseRequest)
		r, err := w.coll.BulkWrite(w.ctx, models{insertOf(1), updateOneOf(doc("_id", 1), set1)}, options.BulkWrite().SetOrdered(true))
		var history *retry.Error
		if !errors.As(err, &history) || history.Total != 2 || !mongo.IsNetworkError(err) {
			t.Fatalf("result %+v, error %v", r, err)
		}
		if r.InsertedCount != 1 || r.MatchedCount != 0 || r.ModifiedCount != 0 {
			t.Errorf("result %+v", r)
		}
	})
}

func TestBulkWriteCollectsWriteConcernErrors(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"insert"}, "writeConcernError", doc("code", 64, "errmsg", "scripted"))))
		r, err := w.coll.BulkWrite(w.ctx, models{insertOf(1), updateOneOf(doc("_id", 1), set1)})
		e := bulk(t, err)
		if e.WriteConcernError == nil || e.WriteConcernError.Code != 64 || r.InsertedCount != 1 || r.ModifiedCount != 1 {
			t.Errorf("result %+v, error %v", r, err)
		}
	})
}

// A write concern that was not satisfied must be seen, whatever the next command fails with.
func TestBulkWriteKeepsTheErrorsBeforeACommandThatFails(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"insert"}, "writeConcernError", doc("code", 64, "errmsg", "not satisfied"))))
		w.script("update", refuse(1))
		r, err := w.coll.BulkWrite(w.ctx, models{insertOf(1), updateOneOf(doc("_id", 1), set1)})
		var command mongo.CommandError
		if e := bulk(t, err); e.WriteConcernError == nil || e.WriteConcernError.Code != 64 || !errors.As(err, &command) || command.Code != 1 {
			t.Errorf("error %v", err)
		}
		if text := err.Error(); !strings.HasPrefix(text, command.Error()) || !strings.Contains(text, "before it: ") || !strings.Contains(text, "not satisfied") {
			t.Error(text)
		}
		if r.InsertedCount != 1 || r.ModifiedCount != 0 {
			t.Errorf("result %+v", r)
		}
	})
}

func TestUnacknowledgedBulkWrite(t *testing.T) {
	in(t, nil, func(w *world) {
		coll := w.coll.Database().Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		r, err := coll.BulkWrite(w.ctx, models{insertOf(1), updateManyOf(doc(), set1), deleteOneOf(doc("_id", 2))})
		w.must(err)
		if r.Acknowledged || r.InsertedCount != 0 {
			t.Errorf("result %+v", r)
		}
		if got := shape(w.started("")); !slices.Equal(got, []string{"insert.", "update.", "delete."}) {
			t.Errorf("commands %q", got)
		}
		w.must(w.client.Ping(w.ctx, nil))
		var found struct{ A int }
		w.must(w.coll.FindOne(w.ctx, doc("_id", 1)).Decode(&found))
		if found.A != 1 {
			t.Errorf("found %+v", found)
		}
	})
}

func TestBulkWriteIsDividedByTheLimitsOfTheServer(t *testing.T) {
	inside(t, smallMessages, nil, func(w *world) {
		var all models
		for _, document := range fiveDocuments() {
			all = append(all, mongo.NewInsertOneModel().SetDocument(document))
		}
		w.must(w.client.Ping(w.ctx, nil))
		r, err := w.coll.BulkWrite(w.ctx, all)
		w.must(err)
		if got := shape(w.started("")); !slices.Equal(got, []string{"insert... retryable", "insert.. retryable"}) || r.InsertedCount != 5 {
			t.Errorf("commands %q, result %+v", got, r)
		}
	})
}

func TestUpdateManyAndDeleteMany(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.coll.InsertMany(w.ctx, []d{doc("_id", 1), doc("_id", 2), doc("_id", 3)})
		w.must(err)
		w.forget()
		u, err := w.coll.UpdateMany(w.ctx, doc("_id", doc("$gt", 1)), set1)
		w.must(err)
		if u.MatchedCount != 2 || u.ModifiedCount != 2 || !u.Acknowledged {
			t.Errorf("UpdateMany: %+v", u)
		}
		u, err = w.coll.UpdateMany(w.ctx, doc("_id", 9), set1, options.UpdateMany().SetUpsert(true))
		w.must(err)
		if u.MatchedCount != 0 || u.UpsertedCount != 1 || u.UpsertedID != int32(9) {
			t.Errorf("UpdateMany with upsert: %+v", u)
		}
		r, err := w.coll.DeleteMany(w.ctx, doc("a", 1))
		w.must(err)
		if r.DeletedCount != 3 || !r.Acknowledged {
			t.Errorf("DeleteMany: %+v", r)
		}
		if got := shape(w.started("")); !slices.Equal(got, []string{"update.", "update.", "delete."}) {
			t.Errorf("commands %q", got)
		}
	})
}

// Retryable Writes: updateMany and deleteMany are not retried; Client Backpressure: every command is, for overload.
func TestUpdateManyAndDeleteManyAreRetriedForOverloadOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  mongotest.Fault
		passes bool
	}{
		{"a retryable error", refuse(91, "RetryableWriteError"), false},
		{"a lost reply", loseReply, false},
		{"an overloaded server", refuse(462, "SystemOverloadedError", "RetryableError"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.script("update", c.fault)
				if _, err := w.coll.UpdateMany(w.ctx, doc(), set1); (err == nil) != c.passes {
					t.Errorf("UpdateMany: %v", err)
				}
				w.script("delete", c.fault)
				if _, err := w.coll.DeleteMany(w.ctx, doc()); (err == nil) != c.passes {
					t.Errorf("DeleteMany: %v", err)
				}
			})
		})
	}
}

// failCommand makes the next command fail.
func (w *world) failCommand(data d) error {
	return w.client.Database("admin").RunCommand(w.ctx, doc("configureFailPoint", "failCommand", "mode", doc("times", 1), "data", data)).Err()
}

// Command Logging and Monitoring: a command without a reply is a success whose event shows "ok: 1".
func TestTheEventOfAnUnacknowledgedWrite(t *testing.T) {
	h := &heard{}
	in(t, func(o *options.ClientOptions) { o.SetMonitor(h.monitor()) }, func(w *world) {
		coll := w.coll.Database().Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		for name, write := range map[string]func() error{
			"insert": func() error { _, err := coll.InsertOne(w.ctx, doc("_id", 1)); return err },
			"update": func() error { _, err := coll.UpdateMany(w.ctx, doc(), set1); return err },
			"delete": func() error { _, err := coll.DeleteMany(w.ctx, doc()); return err },
			"findAndModify": func() error {
				if err := coll.FindOneAndUpdate(w.ctx, doc(), set1).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
					return err
				}
				return nil
			},
		} {
			h.succeeded = nil
			w.must(write())
			if len(h.succeeded) != 1 || h.succeeded[0].CommandName != name || h.succeeded[0].Reply.String() != `{"ok": {"$numberInt":"1"}}` {
				t.Errorf("%s: events %v", name, h.succeeded)
			}
		}
	})
}

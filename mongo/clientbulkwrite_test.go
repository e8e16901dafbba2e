package mongo_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

func to(collection string, model mongo.ClientWriteModel) mongo.ClientBulkWrite {
	return mongo.ClientBulkWrite{Database: "db", Collection: collection, Model: model}
}

func clientInsert(document d) mongo.ClientWriteModel {
	return mongo.NewClientInsertOneModel().SetDocument(document)
}

// repeated returns n inserts of a document into db.coll.
func repeated(n int, document d) []mongo.ClientBulkWrite {
	writes := make([]mongo.ClientBulkWrite, n)
	for i := range writes {
		writes[i] = to("coll", clientInsert(document))
	}
	return writes
}

// upserts returns two upserts whose results do not fit into one batch of the result cursor.
func upserts() []mongo.ClientBulkWrite {
	var writes []mongo.ClientBulkWrite
	for _, letter := range []string{"a", "b"} {
		id := strings.Repeat(letter, 8<<20)
		writes = append(writes, to("coll", mongo.NewClientUpdateOneModel().SetFilter(doc("_id", id)).SetUpdate(set1).SetUpsert(true)))
	}
	return writes
}

// The limits that the hellos of inVersion8 show. They are a part of the usual ones, so that the tests are fast.
const (
	maxDocument = 1 << 20
	maxMessage  = 3_000_000
	maxBatch    = 100
)

// inVersion8 runs f with a server that has the command bulkWrite and small limits.
func inVersion8(t *testing.T, configure func(*options.ClientOptions), f func(w *world)) {
	t.Helper()
	withLimits(t, configure, map[string]int32{
		"maxBsonObjectSize": maxDocument, "maxMessageSizeBytes": maxMessage, "maxWriteBatchSize": maxBatch,
	}, f)
}

func withLimits(t *testing.T, configure func(*options.ClientOptions), limits map[string]int32, f func(w *world)) {
	t.Helper()
	inside(t, func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version("8.0"))
		for field, limit := range limits {
			if err == nil {
				set.Use("hello", showLimit(field, limit, 0))
			}
		}
		return set, err
	}, configure, func(w *world) {
		w.must(w.client.Ping(w.ctx, nil))
		w.forget()
		f(w)
	})
}

// opsOf returns the lengths of ops in the bulkWrite commands that were sent.
func (w *world) opsOf(field string) []int {
	var lengths []int
	for _, ev := range w.started("bulkWrite") {
		ops, err := ev.Command.Lookup(field).Array().Values()
		w.must(err)
		lengths = append(lengths, len(ops))
	}
	return lengths
}

func clientBulk(t *testing.T, err error) mongo.ClientBulkWriteException {
	t.Helper()
	var e mongo.ClientBulkWriteException
	if !errors.As(err, &e) {
		t.Fatalf("error: %T: %v", err, err)
	}
	return e
}

// CRUD prose test 3.
func TestClientBulkWriteIsDividedByMaxWriteBatchSize(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		r, err := w.client.BulkWrite(w.ctx, repeated(maxBatch+1, doc("a", "b")))
		w.must(err)
		if r.InsertedCount != maxBatch+1 || !slices.Equal(w.opsOf("ops"), []int{maxBatch, 1}) {
			t.Errorf("inserted %d by commands of %v", r.InsertedCount, w.opsOf("ops"))
		}
	})
}

// CRUD prose test 4.
func TestClientBulkWriteIsDividedByMaxMessageSizeBytes(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		n := maxMessage/maxDocument + 1
		r, err := w.client.BulkWrite(w.ctx, repeated(n, doc("a", strings.Repeat("b", maxDocument-500))))
		w.must(err)
		if r.InsertedCount != int64(n) || !slices.Equal(w.opsOf("ops"), []int{n - 1, 1}) {
			t.Errorf("inserted %d by commands of %v", r.InsertedCount, w.opsOf("ops"))
		}
	})
}

// CRUD prose test 5.
func TestClientBulkWriteCollectsWriteConcernErrorsOfAllCommands(t *testing.T) {
	inVersion8(t, func(o *options.ClientOptions) { o.SetRetryWrites(false) }, func(w *world) {
		w.must(w.client.Database("admin").RunCommand(w.ctx, doc("configureFailPoint", "failCommand", "mode", doc("times", 2), "data", doc(
			"failCommands", bson.A{"bulkWrite"}, "writeConcernError", doc("code", 91, "errmsg", "Replication is being shut down"),
		))).Err())
		_, err := w.client.BulkWrite(w.ctx, repeated(maxBatch+1, doc("a", "b")))
		e := clientBulk(t, err)
		if len(e.WriteConcernErrors) != 2 || e.PartialResult == nil || e.PartialResult.InsertedCount != maxBatch+1 || len(w.opsOf("ops")) != 2 {
			t.Errorf("error %v, commands of %v", err, w.opsOf("ops"))
		}
	})
}

// CRUD prose test 6.
func TestClientBulkWriteHandlesWriteErrorsOfAllCommands(t *testing.T) {
	for _, c := range []struct {
		ordered          bool
		errors, commands int
	}{{false, maxBatch + 1, 2}, {true, 1, 1}} {
		inVersion8(t, nil, func(w *world) {
			_, err := w.client.Database("db").Collection("coll").InsertOne(w.ctx, doc("_id", 1))
			w.must(err)
			_, err = w.client.BulkWrite(w.ctx, repeated(maxBatch+1, doc("_id", 1)), options.ClientBulkWrite().SetOrdered(c.ordered))
			e := clientBulk(t, err)
			if len(e.WriteErrors) != c.errors || len(w.opsOf("ops")) != c.commands || e.PartialResult != nil {
				t.Errorf("ordered %t: %d errors, commands of %v", c.ordered, len(e.WriteErrors), w.opsOf("ops"))
			}
			for i, we := range e.WriteErrors {
				if we.Index != i || we.Code != 11000 {
					t.Fatalf("error %d is %v", i, we)
				}
			}
		})
	}
}

// CRUD prose test 7.
func TestClientBulkWriteReadsTheWholeCursor(t *testing.T) {
	withLimits(t, nil, nil, func(w *world) {
		r, err := w.client.BulkWrite(w.ctx, upserts(), options.ClientBulkWrite().SetVerboseResults(true))
		w.must(err)
		if r.UpsertedCount != 2 || len(r.UpdateResults) != 2 || len(w.started("getMore")) == 0 {
			t.Errorf("%d upserts, %d results, %d getMores", r.UpsertedCount, len(r.UpdateResults), len(w.started("getMore")))
		}
	})
}

// The reply with a write concern error has results too, also those that a getMore must read.
func TestClientBulkWriteReadsTheCursorAfterAWriteConcernError(t *testing.T) {
	withLimits(t, nil, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"bulkWrite"}, "writeConcernError", doc("code", 64, "errmsg", "scripted"))))
		r, err := w.client.BulkWrite(w.ctx, upserts(), options.ClientBulkWrite().SetVerboseResults(true))
		e := clientBulk(t, err)
		if len(e.WriteConcernErrors) != 1 || len(r.UpdateResults) != 2 || len(w.started("getMore")) == 0 {
			t.Errorf("%d results, error %v", len(r.UpdateResults), e.WriteConcernErrors)
		}
	})
}

// CRUD prose test 9.
func TestClientBulkWriteWhoseGetMoreFails(t *testing.T) {
	withLimits(t, nil, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"getMore"}, "errorCode", 8)))
		_, err := w.client.BulkWrite(w.ctx, upserts(), options.ClientBulkWrite().SetVerboseResults(true))
		e := clientBulk(t, err)
		if e.WriteError == nil || e.WriteError.Code != 8 || e.PartialResult == nil ||
			e.PartialResult.UpsertedCount != 2 || len(e.PartialResult.UpdateResults) != 1 {
			t.Errorf("error %v, %v", e.WriteError, e.PartialResult == nil)
		}
		if len(w.started("getMore")) != 1 || len(w.started("killCursors")) != 1 {
			t.Errorf("%d getMores, %d killCursors", len(w.started("getMore")), len(w.started("killCursors")))
		}
	})
}

// CRUD prose test 11.
func TestClientBulkWriteIsDividedWhenANewNamespaceDoesNotFit(t *testing.T) {
	const opsBytes = maxMessage - 1122
	models := repeated(opsBytes/maxDocument, doc("a", strings.Repeat("b", maxDocument-57)))
	if remainder := opsBytes % maxDocument; remainder >= 217 {
		models = append(models, repeated(1, doc("a", strings.Repeat("b", remainder-57)))...)
	}
	long := strings.Repeat("c", 200)
	for _, c := range []struct {
		name            string
		last            string
		ops, namespaces []int
	}{
		{"a known namespace", "coll", []int{len(models) + 1}, []int{1}},
		{"a new namespace", long, []int{len(models), 1}, []int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				all := slices.Concat(models, []mongo.ClientBulkWrite{to(c.last, clientInsert(doc("a", "b")))})
				r, err := w.client.BulkWrite(w.ctx, all)
				w.must(err)
				if r.InsertedCount != int64(len(all)) || !slices.Equal(w.opsOf("ops"), c.ops) || !slices.Equal(w.opsOf("nsInfo"), c.namespaces) {
					t.Errorf("inserted %d by commands of %v ops and %v namespaces", r.InsertedCount, w.opsOf("ops"), w.opsOf("nsInfo"))
				}
				events := w.started("bulkWrite")
				if ns := events[len(events)-1].Command.Lookup("nsInfo", "0", "ns").StringValue(); len(c.ops) > 1 && ns != "db."+c.last {
					t.Errorf("the last command has the namespace %s", ns)
				}
			})
		})
	}
}

// CRUD prose test 12.
func TestClientBulkWriteOfAModelThatFitsIntoNoMessage(t *testing.T) {
	for name, write := range map[string]mongo.ClientBulkWrite{
		"the document":  to("coll", clientInsert(doc("a", strings.Repeat("b", maxMessage)))),
		"the namespace": to(strings.Repeat("c", maxMessage), clientInsert(doc("a", "b"))),
	} {
		t.Run(name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{write})
				e := clientBulk(t, err)
				if e.PartialResult != nil || len(e.WriteErrors) != 1 || e.WriteErrors[0].Code != 10334 || len(w.started("")) != 0 {
					t.Errorf("%d commands, error %v", len(w.started("")), err)
				}
			})
		})
	}
}

// CRUD prose test 15.
func TestClientBulkWriteUnacknowledged(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		n := maxMessage/maxDocument + 1
		r, err := w.client.BulkWrite(w.ctx, repeated(n, doc("a", strings.Repeat("b", maxDocument-500))),
			options.ClientBulkWrite().SetOrdered(false).SetWriteConcern(writeconcern.Unacknowledged()))
		w.must(err)
		if r.Acknowledged || !slices.Equal(w.opsOf("ops"), []int{n - 1, 1}) {
			t.Errorf("acknowledged %t, commands of %v", r.Acknowledged, w.opsOf("ops"))
		}
		for _, ev := range w.started("bulkWrite") {
			if got := ev.Command.Lookup("writeConcern", "w").AsInt64(); got != 0 {
				t.Errorf("the write concern is %d", got)
			}
		}
		w.must(w.client.Ping(w.ctx, nil))
		<-time.After(time.Second)
		w.set.CheckCount(t, "db.coll", n)
	})
}

// CRUD prose test 16.
func TestGeneratedIDsAreTheFirstField(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		_, err := w.coll.InsertOne(w.ctx, doc("a", 1))
		w.must(err)
		_, err = w.coll.BulkWrite(w.ctx, models{mongo.NewInsertOneModel().SetDocument(doc("a", 1))})
		w.must(err)
		r, err := w.client.BulkWrite(w.ctx, repeated(1, doc("a", 1)), options.ClientBulkWrite().SetVerboseResults(true))
		w.must(err)
		for _, path := range [][]string{{"documents", "0"}, {"documents", "0"}, {"ops", "0", "document"}} {
			ev := w.started("")[0]
			w.events = w.events[1:]
			first, err := ev.Command.Lookup(path...).Document().IndexErr(0)
			if err != nil || first.Key() != "_id" {
				t.Errorf("%s: the first field is %v", ev.CommandName, first)
			}
			if id, ok := first.Value().ObjectIDOK(); ev.CommandName == "bulkWrite" && (!ok || r.InsertResults[0].InsertedID != id) {
				t.Errorf("the result has %v, the document %v", r.InsertResults, id)
			}
		}
	})
}

func TestClientBulkWriteResults(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		writes := []mongo.ClientBulkWrite{
			to("a", clientInsert(doc("_id", 1, "x", bson.A{1}))),
			to("b", clientInsert(doc("_id", 2))),
			to("a", mongo.NewClientUpdateOneModel().SetFilter(doc("_id", 1)).SetUpdate(doc("$set", doc("x.$[i]", 3))).
				SetArrayFilters([]any{doc("i", 1)}).SetHint("_id_").SetSort(doc("_id", 1))),
			to("b", mongo.NewClientReplaceOneModel().SetFilter(doc("_id", 7)).SetReplacement(doc("r", 1)).SetUpsert(true)),
			to("b", mongo.NewClientUpdateManyModel().SetFilter(doc()).SetUpdate(set1)),
			to("a", mongo.NewClientDeleteOneModel().SetFilter(doc("_id", 1)).SetHint(doc("_id", 1))),
			to("b", mongo.NewClientDeleteManyModel().SetFilter(doc()).SetCollation(&options.Collation{Locale: "en"})),
		}
		r, err := w.client.BulkWrite(w.ctx, writes, options.ClientBulkWrite().SetVerboseResults(true).SetComment("why").SetLet(doc("v", 1)).
			SetBypassDocumentValidation(true))
		w.must(err)
		if r.InsertedCount != 2 || r.MatchedCount != 3 || r.ModifiedCount != 3 || r.UpsertedCount != 1 || r.DeletedCount != 3 || !r.HasVerboseResults {
			t.Errorf("result %+v", r)
		}
		if r.UpdateResults[3].UpsertedID != int32(7) || r.UpdateResults[4].MatchedCount != 2 || r.DeleteResults[6].DeletedCount != 2 ||
			r.InsertResults[1].InsertedID != int32(2) || len(r.InsertResults)+len(r.UpdateResults)+len(r.DeleteResults) != len(writes) {
			t.Errorf("result %+v", r)
		}
		sent := w.started("bulkWrite")[0].Command
		for _, path := range []string{
			"comment", "let", "bypassDocumentValidation", "ops.2.arrayFilters", "ops.2.hint", "ops.2.sort", "ops.3.upsert", "ops.5.hint", "ops.6.collation",
		} {
			if _, err := sent.LookupErr(strings.Split(path, ".")...); err != nil {
				t.Errorf("%s is not sent", path)
			}
		}
		if _, err := sent.LookupErr("txnNumber"); err == nil {
			t.Error("a command with UpdateMany has a transaction number")
		}
	})
}

// The arguments are checked before any network use.
func TestClientBulkWriteRefusesWrongArguments(t *testing.T) {
	one := repeated(1, doc("a", 1))
	unacknowledged := options.ClientBulkWrite().SetWriteConcern(writeconcern.Unacknowledged())
	var nilModel *mongo.ClientInsertOneModel
	for _, c := range []struct {
		name   string
		writes []mongo.ClientBulkWrite
		opts   *options.ClientBulkWriteOptionsBuilder
		is     error
		text   string
	}{
		{"no writes", nil, nil, mongo.ErrEmptySlice, "invalid writes: must provide at least one element in input slice"},
		{"a nil model", append(one, to("c", nil)), nil, mongo.ErrNilDocument, "error from model at index 1: document is nil"},
		{"a nil pointer", []mongo.ClientBulkWrite{to("c", nilModel)}, nil, mongo.ErrNilDocument, "error from model at index 0"},
		{
			"a database with a dot",
			[]mongo.ClientBulkWrite{{Database: "a.b", Collection: "c", Model: one[0].Model}},
			nil, nil,
			`invalid database name "a.b" in write 0: database names cannot contain '.'`,
		},
		{
			"an update without an operator",
			[]mongo.ClientBulkWrite{to("c", mongo.NewClientUpdateOneModel().SetFilter(doc()).SetUpdate(doc("a", 1)))},
			nil, nil,
			"error from model at index 0: update document must contain key beginning with '$'",
		},
		{
			"a replacement with an operator",
			[]mongo.ClientBulkWrite{to("c", mongo.NewClientReplaceOneModel().SetFilter(doc()).SetReplacement(set1))},
			nil, nil,
			"replacement document cannot contain keys beginning with '$'",
		},
		{"unacknowledged and ordered", one, unacknowledged, nil, "cannot request unacknowledged write concern and ordered writes"},
		{
			"unacknowledged and verbose", one,
			options.ClientBulkWrite().SetWriteConcern(writeconcern.Unacknowledged()).SetOrdered(false).SetVerboseResults(true), nil,
			"cannot request unacknowledged write concern and verbose results",
		},
		{
			"a wrong write concern", one, options.ClientBulkWrite().SetWriteConcern(&writeconcern.WriteConcern{W: -1}), nil,
			"cannot be a negative number",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				r, err := w.client.BulkWrite(w.ctx, c.writes, c.opts)
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

func TestClientBulkWriteOnAnOlderServer(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.client.BulkWrite(w.ctx, repeated(1, doc("a", 1)))
		if err == nil || !strings.Contains(err.Error(), "needs a server of wire version 25 (MongoDB 8.0), this one has 21") || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent, error %v", len(w.started("")), err)
		}
	})
}

func TestClientBulkWriteIsRetriedByItsRule(t *testing.T) {
	many := []mongo.ClientBulkWrite{to("coll", mongo.NewClientDeleteManyModel().SetFilter(doc()))}
	for _, c := range []struct {
		name     string
		writes   []mongo.ClientBulkWrite
		faults   []mongotest.Fault
		commands int
		passes   bool
	}{
		{"a lost reply", repeated(2, doc("a", 1)), []mongotest.Fault{loseReply}, 2, true},
		{"a retryable error", repeated(2, doc("a", 1)), []mongotest.Fault{refuse(91, "RetryableWriteError")}, 2, true},
		{"a retryable error, twice", repeated(2, doc("a", 1)), []mongotest.Fault{refuse(91, "RetryableWriteError"), refuse(91, "RetryableWriteError")}, 2, false},
		{"a retryable error, with DeleteMany", many, []mongotest.Fault{refuse(91, "RetryableWriteError")}, 1, false},
		{"overload, with DeleteMany", many, []mongotest.Fault{refuse(462, "SystemOverloadedError", "RetryableError")}, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				w.script("bulkWrite", c.faults...)
				_, err := w.client.BulkWrite(w.ctx, c.writes)
				if (err == nil) != c.passes || len(w.started("bulkWrite")) != c.commands {
					t.Errorf("%d commands, error %v", len(w.started("bulkWrite")), err)
				}
				if c.passes && len(c.writes) == 2 {
					w.set.CheckCount(t, "db.coll", 2)
				}
			})
		})
	}
}

// The error of a command as a whole stays reachable after other commands have succeeded.
func TestClientBulkWriteWhoseSecondCommandFails(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		inVersion8(t, nil, func(w *world) {
			w.script("bulkWrite", mongotest.Fault{}, loseReply, loseReply)
			r, err := w.client.BulkWrite(w.ctx, repeated(maxBatch+1, doc("a", "b")), options.ClientBulkWrite().SetOrdered(ordered))
			e := clientBulk(t, err)
			var history *retry.Error
			if !mongo.IsNetworkError(err) || !errors.As(err, &history) || e.WriteError == nil || e.PartialResult == nil ||
				r.InsertedCount != maxBatch || e.PartialResult.InsertedCount != maxBatch {
				t.Errorf("ordered %t: %T %v", ordered, err, e.WriteError)
			}
		})
		inVersion8(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
			w.script("bulkWrite", mongotest.Fault{}, mongotest.Fault{Delay: 2 * time.Second})
			_, err := w.client.BulkWrite(w.ctx, repeated(maxBatch+1, doc("a", "b")), options.ClientBulkWrite().SetOrdered(ordered))
			if clientBulk(t, err).PartialResult == nil || !mongo.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ordered %t: %T %v", ordered, err, err)
			}
		})
	}
}

func TestAfterWhatAClientBulkWriteGoesOn(t *testing.T) {
	over := to("coll", clientInsert(doc("a", strings.Repeat("b", maxDocument+messageMargin))))
	three := slices.Concat(repeated(1, doc("a", 1)), []mongo.ClientBulkWrite{over}, repeated(1, doc("a", 2)))
	concern := func(n int) func(w *world) {
		return func(w *world) {
			w.heal = w.set.Use("bulkWrite", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if n--; n < 0 {
					return next(r)
				}
				var body d
				w.must(bson.Unmarshal(next(r).Body, &body))
				return mongotest.NewReply(append(body, e{Key: "writeConcernError", Value: doc("code", 91, "errmsg", "x")},
					e{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}))
			})
		}
	}
	for _, c := range []struct {
		name     string
		ordered  bool
		writes   []mongo.ClientBulkWrite
		faults   func(w *world)
		commands int
		inserted int64
	}{
		{"ordered, a model is too large: it ends", true, three, nil, 1, 1},
		{"unordered, a model is too large: the others are sent", false, three, nil, 2, 2},
		{"a write concern error that the retry does not have: it goes on", false, repeated(maxBatch+1, doc("a", 1)), concern(1), 3, maxBatch + 1},
		{"the retry fails too: it ends", false, repeated(maxBatch+1, doc("a", 1)), concern(2), 2, maxBatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				if c.faults != nil {
					c.faults(w)
				}
				r, err := w.client.BulkWrite(w.ctx, c.writes, options.ClientBulkWrite().SetOrdered(c.ordered))
				if n := len(w.started("bulkWrite")); n != c.commands || r.InsertedCount != c.inserted || (err == nil) != (c.commands == 3) {
					t.Errorf("%d commands, inserted %d, error %v", n, r.InsertedCount, err)
				}
			})
		})
	}
}

// Only the last reply of a command counts: a count that it does not have is 0, whatever the reply before the retry had.
func TestTheCountsOfAClientBulkWriteAreThoseOfTheLastReply(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		replies := []d{
			append(doc("nInserted", 1, "nMatched", 2, "nModified", 3, "nDeleted", 4, "nUpserted", 5, "nErrors", 0),
				e{Key: "writeConcernError", Value: doc("code", 91, "errmsg", "scripted")}, e{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}),
			doc("nInserted", 1),
		}
		w.set.Use("bulkWrite", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			reply := append(doc("ok", 1, "cursor", doc("id", int64(0), "ns", "admin.$cmd.bulkWrite", "firstBatch", bson.A{})), replies[0]...)
			replies = replies[1:]
			return mongotest.NewReply(reply)
		})
		r, err := w.client.BulkWrite(w.ctx, repeated(1, doc("a", 1)))
		want := mongo.ClientBulkWriteResult{InsertedCount: 1, Acknowledged: true}
		if err != nil || len(replies) != 0 || !reflect.DeepEqual(*r, want) {
			t.Errorf("the result is %+v, want %+v: %v", r, want, err)
		}
	})
}

const messageMargin = 16 << 10 // the bytes that an op may have besides its document

// A result that belongs to no model is not counted for another one.
func TestClientBulkWriteRefusesAResultOfNoModel(t *testing.T) {
	for _, index := range []int32{-1, 2} {
		inVersion8(t, nil, func(w *world) {
			result := doc("ok", 1.0, "idx", index, "n", int32(1))
			w.set.Use("bulkWrite", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
				cursor := doc("id", int64(0), "ns", "admin.$cmd.bulkWrite", "firstBatch", []any{result})
				return mongotest.NewReply(doc("ok", 1, "cursor", cursor, "nErrors", int32(0), "nInserted", int32(2)))
			})
			_, err := w.client.BulkWrite(w.ctx, repeated(2, doc("x", 1)))
			if err == nil || !strings.Contains(err.Error(), "the command has 2 ops") {
				t.Errorf("index %d: %v", index, err)
			}
		})
	}
}

// CRUD, "ClientBulkWriteException": partialResult is there if a write succeeded.
func TestClientBulkWriteHasAPartialResultIfAWriteSucceeded(t *testing.T) {
	taken, free := to("coll", clientInsert(doc("_id", 1))), to("coll", clientInsert(doc("x", 1)))
	for _, c := range []struct {
		name    string
		writes  []mongo.ClientBulkWrite
		ordered bool
		partial bool
	}{
		{"ordered, the first one failed", []mongo.ClientBulkWrite{taken, free}, true, false},
		{"ordered, the second one failed", []mongo.ClientBulkWrite{free, taken}, true, true},
		{"unordered, the first one failed", []mongo.ClientBulkWrite{taken, free}, false, true},
		{"unordered, all failed", []mongo.ClientBulkWrite{taken, taken}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVersion8(t, nil, func(w *world) {
				_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{taken})
				w.must(err)
				_, err = w.client.BulkWrite(w.ctx, c.writes, options.ClientBulkWrite().SetOrdered(c.ordered).SetVerboseResults(true))
				var e mongo.ClientBulkWriteException
				if !errors.As(err, &e) || (e.PartialResult != nil) != c.partial {
					t.Errorf("partial result %+v: %v", e.PartialResult, err)
				}
			})
		})
	}
}

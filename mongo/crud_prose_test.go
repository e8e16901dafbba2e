package mongo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of CRUD. Those of Client.BulkWrite are in clientbulkwrite_test.go, except number 8.

func TestCRUDProse1AWriteConcernErrorHasItsDetails(t *testing.T) {
	info := doc("writeConcern", doc("w", 2, "wtimeout", 0, "provenance", "clientSupplied"))
	want, err := bson.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	in(t, nil, func(w *world) {
		w.must(w.failCommand(doc("failCommands", bson.A{"insert"}, "writeConcernError", doc(
			"code", 100, "codeName", "UnsatisfiableWriteConcern", "errmsg", "Not enough data-bearing nodes", "errInfo", info,
		))))
		var e mongo.WriteException
		if err := insertOneOf(w); !errors.As(err, &e) || e.WriteConcernError == nil || e.WriteConcernError.Code != 100 {
			t.Fatalf("error: %v", err)
		}
		w.check("Details", e.WriteConcernError.Details.String(), bson.Raw(want).String())
	})
}

func TestCRUDProse2AWriteErrorHasItsDetails(t *testing.T) {
	var reply bson.Raw
	in(t, func(o *options.ClientOptions) {
		monitor := *o.Monitor
		monitor.Succeeded = func(_ context.Context, ev *event.CommandSucceededEvent) {
			if ev.CommandName == "insert" {
				reply = slices.Clone(ev.Reply)
			}
		}
		o.SetMonitor(&monitor)
	}, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c",
			options.CreateCollection().SetValidator(doc("x", doc("$type", "string")))))
		_, err := w.coll.InsertOne(w.ctx, doc("x", 1))
		var e mongo.WriteException
		if !errors.As(err, &e) || len(e.WriteErrors) != 1 || e.WriteErrors[0].Code != 121 || len(e.WriteErrors[0].Details) == 0 {
			t.Fatalf("error: %v", err)
		}
		w.check("Details", e.WriteErrors[0].Details.String(), reply.Lookup("writeErrors", "0", "errInfo").Document().String())
	})
}

func TestCRUDProse8ClientBulkWriteReadsItsCursorInATransaction(t *testing.T) {
	withLimits(t, nil, nil, func(w *world) {
		w.must(w.client.Database("db").CreateCollection(w.ctx, "coll"))
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		r, err := w.client.BulkWrite(ctx, upserts(), options.ClientBulkWrite().SetVerboseResults(true))
		w.must(err)
		if r.UpsertedCount != 2 || len(r.UpdateResults) != 2 {
			t.Errorf("%d upserts, %d results", r.UpsertedCount, len(r.UpdateResults))
		}
		more := w.started("getMore")
		if len(more) == 0 || fieldsOf(more[0], "lsid", "txnNumber", "autocommit") != fieldsOf(w.started("bulkWrite")[0], "lsid", "txnNumber", "autocommit") {
			t.Errorf("the getMores of the transaction are %v", more)
		}
		w.must(s.CommitTransaction(w.ctx))
		w.set.CheckCount(t, "db.coll", 2)
	})
}

// The client has no helper for explain, as the official driver has none: the command is run as it is.
func TestCRUDProse14AnExplainHasItsMaxTimeMS(t *testing.T) {
	in(t, nil, func(w *world) {
		find := doc("find", "collection", "filter", doc("name", "john doe"))
		explain := doc("explain", find, "verbosity", "queryPlanner", "maxTimeMS", 2000)
		reply, err := w.client.Database("explain-test").RunCommand(w.ctx, explain).Raw()
		w.must(err)
		if _, ok := reply.Lookup("queryPlanner").DocumentOK(); !ok {
			t.Errorf("the reply is %v", reply)
		}
		sent := w.started("explain")[0].Command
		if got := sent.Lookup("maxTimeMS").AsInt64(); got != 2000 {
			t.Errorf("maxTimeMS is %d", got)
		}
		if _, err := sent.LookupErr("explain", "maxTimeMS"); err == nil {
			t.Error("the explained command has a maxTimeMS")
		}
	})
	in(t, func(o *options.ClientOptions) { o.SetTimeout(2 * time.Second) }, func(w *world) {
		w.must(w.client.Database("explain-test").RunCommand(w.ctx, doc("explain", doc("find", "collection"), "verbosity", "queryPlanner")).Err())
		if got := w.started("explain")[0].Command.Lookup("maxTimeMS").AsInt64(); got <= 0 || got > 2000 {
			t.Errorf("with the client's timeout maxTimeMS is %d", got)
		}
	})
}

// Index Management, "Test Plan": the names and the descriptions of indexes, in each kind of deployment.
func TestIndexManagementProseTheIndexesAreEnumerated(t *testing.T) {
	for name, c := range map[string]struct {
		run    func() (*mongotest.Deployment, error)
		reader func(w *world) *mongo.Client
	}{
		"a standalone": {standalone, func(w *world) *mongo.Client { return w.client }},
		"a primary":    {replicaSet, func(w *world) *mongo.Client { return w.another(w.set.Primary(), "directConnection=true", nil) }},
		"a secondary": {replicaSet, func(w *world) *mongo.Client {
			return w.another((w.set.Primary()+1)%3, "directConnection=true", nil)
		}},
		"a mongos": {sharded(1), func(w *world) *mongo.Client { return w.client }},
	} {
		t.Run(name, func(t *testing.T) {
			inside(t, c.run, nil, func(w *world) {
				made, err := w.coll.Indexes().CreateMany(w.ctx, []mongo.IndexModel{
					{Keys: doc("a", 1)}, {Keys: doc("b", 1, "c", -1)}, {Keys: doc("u", 1), Options: options.Index().SetUnique(true)},
				})
				w.must(err)
				_, err = w.coll.InsertOne(w.ctx, doc("a", 1, "b", 2, "c", 3, "u", 4))
				w.must(err)
				w.must(w.set.WaitIdle(w.ctx))
				indexes := c.reader(w).Database("test").Collection("c").Indexes()
				found, err := indexes.ListSpecifications(w.ctx)
				w.must(err)
				var names []string
				for _, f := range found {
					names = append(names, f.Name)
					if unique := f.Unique != nil && *f.Unique; unique != (f.Name == "u_1") || f.Namespace != "test.c" {
						t.Errorf("%+v", f)
					}
				}
				slices.Sort(names)
				if want := append([]string{"_id_"}, made...); !slices.Equal(names, want) {
					t.Errorf("the indexes are %v, want %v", names, want)
				}
			})
		})
	}
}

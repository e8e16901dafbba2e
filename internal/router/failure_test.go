package router_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

func updateCommand(multi bool, more ...bson.E) bson.D {
	update := bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: d("$inc", d("n", 1))}, {Key: "multi", Value: multi}}
	return append(bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{update}}}, more...)
}

// What a client gets when the members fail: never an error of a state change, and the labels of a mongos.
func TestWhatClientsAreTold(t *testing.T) {
	lost := mongotest.Fault{LoseReply: true}
	stepped := mongotest.Fault{Error: &mongotest.CommandError{Code: 11602}}
	for _, c := range []struct {
		name    string
		command bson.D
		on      string // the command that meets the fault
		fault   mongotest.Fault
		times   int // 0: always
		code    int
		labels  []string
		without []string
		says    string
		sent    int // messages of the command
	}{
		{
			name: "an update of many, whose reply is lost", command: updateCommand(true), on: "update", fault: lost, times: 1,
			code: 6, says: "may have executed", without: []string{"RetryableWriteError"}, sent: 1,
		},
		{
			name: "an update of many, which a change of state interrupts", command: updateCommand(true), on: "update", fault: stepped, times: 1,
			code: 6, without: []string{"RetryableWriteError"}, sent: 1,
		},
		{name: "an update of one, whose reply is lost", command: updateCommand(false), on: "update", fault: lost, times: 1, sent: 2},
		{name: "an update of one, which a change of state interrupts", command: updateCommand(false), on: "update", fault: stepped, times: 3, sent: 4},
		{
			name: "an update of one with w: 0", command: updateCommand(false, bson.E{Key: "writeConcern", Value: d("w", 0)}), on: "update", fault: lost,
			times: 1, code: 6, sent: 1,
		},
		{name: "a read, whose reply is lost", command: d("count", "c"), on: "count", fault: lost, times: 3, sent: 4},
		{
			name: "an aggregation that writes, whose reply is lost", on: "aggregate", fault: lost, times: 1, code: 6, sent: 1,
			command: bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{d("$out", "o")}}, {Key: "cursor", Value: bson.D{}}},
		},
		{
			name: "an error of the command", command: updateCommand(false), on: "update", times: 1, code: 8000, sent: 1,
			fault: mongotest.Fault{Error: &mongotest.CommandError{Code: 8000, Name: "AtlasError", Message: "no"}},
		},
		{
			name: "a change of state until the window is over", command: updateCommand(false), on: "update", fault: stepped, code: 6,
			without: []string{"RetryableWriteError"}, sent: -1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				db := w.connect(neverRetries()).Database("app")
				if err := w.set.Insert("app.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 0}}); err != nil {
					w.Fatal(err)
				}
				fault := mongotest.Times(1<<30, c.fault)
				if c.times > 0 {
					fault = mongotest.Times(c.times, c.fault)
				}
				w.set.Use(c.on, fault)
				err := db.RunCommand(w.Context(), c.command).Err()
				if codeOf(err) != c.code {
					w.Errorf("%v, want %d", err, c.code)
				}
				checkLabels(w, err, c.labels, c.without)
				if err != nil && !strings.Contains(err.Error(), c.says) {
					w.Errorf("%v does not say %q", err, c.says)
				}
				if c.sent >= 0 {
					w.set.CheckCommands(w, c.on, c.sent)
				}
			})
		})
	}
}

func checkLabels(w *world, err error, labels, without []string) {
	w.Helper()
	var e mongo.CommandError
	errors.As(err, &e)
	for _, l := range labels {
		if !slices.Contains(e.Labels, l) {
			w.Errorf("%v has the labels %v, not %s", err, e.Labels, l)
		}
	}
	for _, l := range without {
		if slices.Contains(e.Labels, l) {
			w.Errorf("%v has the label %s", err, l)
		}
	}
}

// A write concern error of a state change is repeated as long as the window, and has another code then.
func TestAWriteConcernErrorOfAStateChange(t *testing.T) {
	inWorld(t, func(w *world) {
		db := w.connect(neverRetries()).Database("app")
		for i := range 3 {
			err := w.set.SetFailPoint(i, mongotest.FailPoint{
				Commands: []string{"insert"}, WriteConcernError: &mongotest.CommandError{Code: 91, Message: "down"}, ErrorLabels: []string{"RetryableWriteError"},
			})
			if err != nil {
				w.Fatal(err)
			}
		}
		insert := bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 1)}}}
		began := time.Now()
		reply, err := db.RunCommand(w.Context(), insert).Raw()
		var failed mongo.WriteException
		if !errors.As(err, &failed) || failed.WriteConcernError == nil || failed.WriteConcernError.Code != 6 {
			w.Errorf("%v, %v", reply, err)
		}
		if took := time.Since(began); took < 20*time.Second || took > 22*time.Second {
			w.Errorf("it took %v", took)
		}
		w.set.CheckDocuments(w, "app.c", d("_id", 1))
	})
}

func TestTransactionsThroughTheRouter(t *testing.T) {
	for _, c := range []struct {
		name  string
		on    string
		fault mongotest.Fault
		label string
	}{
		{name: "without a failure", on: "insert"},
		{name: "a lost reply", on: "insert", fault: mongotest.Fault{LoseReply: true}, label: "TransientTransactionError"},
		{name: "a change of state", on: "insert", fault: mongotest.Fault{Error: &mongotest.CommandError{Code: 11602}}, label: "TransientTransactionError"},
		{name: "a lost reply to the commit", on: "commitTransaction", fault: mongotest.Fault{LoseReply: true}},
		{name: "a change of state at the commit", on: "commitTransaction", fault: mongotest.Fault{Error: &mongotest.CommandError{Code: 189}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				of := w.collection(neverRetries())
				if err := w.set.Insert("app.c", d("_id", 0)); err != nil {
					w.Fatal(err)
				}
				w.set.Use(c.on, mongotest.FaultOnce(c.fault))
				s, err := of.Database().Client().StartSession()
				if err != nil {
					w.Fatal(err)
				}
				defer s.EndSession(w.Context())
				if err := s.StartTransaction(); err != nil {
					w.Fatal(err)
				}
				err = mongo.WithSession(w.Context(), s, func(ctx context.Context) error {
					if _, err := of.InsertOne(ctx, d("_id", 1)); err != nil {
						return err
					}
					return s.CommitTransaction(ctx)
				})
				if (err == nil) != (c.label == "") {
					w.Errorf("%v", err)
				}
				var labelled mongo.LabeledError
				if c.label != "" && (!errors.As(err, &labelled) || !labelled.HasErrorLabel(c.label)) {
					w.Errorf("%v has not the label %s", err, c.label)
				}
			})
		})
	}
}

// A change stream goes on after each failure: the driver resumes by the label.
func TestAChangeStreamResumes(t *testing.T) {
	inWorld(t, func(w *world) {
		of := w.collection()
		stream, err := of.Watch(w.Context(), mongo.Pipeline{}, options.ChangeStream().SetMaxAwaitTime(time.Second))
		if err != nil {
			w.Fatal(err)
		}
		defer stream.Close(w.Context())
		w.set.Use("getMore", mongotest.Times(2, mongotest.Fault{LoseReply: true}))
		for i := range 3 {
			if _, err := of.InsertOne(w.Context(), d("_id", i)); err != nil {
				w.Fatal(err)
			}
			if !stream.Next(w.Context()) {
				w.Fatalf("event %d: %v", i, stream.Err())
			}
		}
	})
}

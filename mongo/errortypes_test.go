package mongo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// typeOf returns the name of an error's concrete type, as a program finds it that was written for the official driver.
func typeOf(err error) string {
	switch err.(type) { //nolint:errorlint // the test is of the concrete type
	case official.CommandError:
		return "CommandError"
	case mongo.WriteException:
		return "WriteException"
	case mongo.BulkWriteException:
		return "BulkWriteException"
	case mongo.ClientBulkWriteException:
		return "ClientBulkWriteException"
	case official.MarshalError:
		return "MarshalError"
	case official.ErrMapForOrderedArgument:
		return "ErrMapForOrderedArgument"
	case official.InvalidArgumentError:
		return "InvalidArgumentError"
	}
	return ""
}

// After one attempt an error has the official concrete type, and a sentinel is the official value.
func TestErrorsHaveTheOfficialTypes(t *testing.T) {
	for _, c := range []struct {
		name     string
		fails    func(w *world) error
		concrete string // "" for an error that is wrapped or has a type of its own
		sentinel error  // compared with ==
		codes    []int
	}{
		{"CommandError", func(w *world) error {
			return w.client.Database("db").RunCommand(w.ctx, doc("nonsense", 1)).Err()
		}, "CommandError", nil, []int{59}},
		{"WriteException", func(w *world) error {
			_, err := w.coll.InsertOne(w.ctx, doc("_id", 0))
			return err
		}, "WriteException", nil, []int{11000}},
		{"BulkWriteException of InsertMany", func(w *world) error {
			_, err := w.coll.InsertMany(w.ctx, []d{doc("_id", 0)})
			return err
		}, "BulkWriteException", nil, []int{11000}},
		{"BulkWriteException of BulkWrite", func(w *world) error {
			_, err := w.coll.BulkWrite(w.ctx, models{insertOf(0)})
			return err
		}, "BulkWriteException", nil, []int{11000}},
		{"ClientBulkWriteException", func(w *world) error {
			_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: clientInsert(doc("_id", 0))}})
			return err
		}, "ClientBulkWriteException", nil, []int{11000}},
		{"MarshalError", func(w *world) error {
			_, err := w.coll.InsertOne(w.ctx, doc("f", func() {}))
			return err
		}, "MarshalError", nil, nil},
		{"ErrMapForOrderedArgument", func(w *world) error {
			return w.client.Database("db").RunCommand(w.ctx, bson.M{"a": 1, "b": 1}).Err()
		}, "ErrMapForOrderedArgument", mongo.ErrMapForOrderedArgument{ParamName: "cmd"}, nil},
		{"ErrNilDocument", func(w *world) error {
			_, err := w.coll.InsertOne(w.ctx, nil)
			return err
		}, "InvalidArgumentError", official.ErrNilDocument, nil},
		{"ErrNilValue", func(w *world) error {
			_, err := w.coll.UpdateByID(w.ctx, nil, set1)
			return err
		}, "InvalidArgumentError", official.ErrNilValue, nil},
		{"ErrEmptySlice", func(w *world) error {
			_, err := w.coll.InsertMany(w.ctx, []d{})
			return err
		}, "InvalidArgumentError", official.ErrEmptySlice, nil},
		{"ErrNotSlice", func(w *world) error {
			_, err := w.coll.InsertMany(w.ctx, 7)
			return err
		}, "InvalidArgumentError", official.ErrNotSlice, nil},
		{"ErrNoDocuments", func(w *world) error {
			return w.coll.FindOne(w.ctx, doc("_id", 9)).Err()
		}, "", official.ErrNoDocuments, nil},
		{"ErrClientDisconnected", func(w *world) error {
			other, err := mongo.Connect()
			w.must(err)
			w.must(other.Disconnect(w.ctx))
			return other.Ping(w.ctx, nil)
		}, "", official.ErrClientDisconnected, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				_, err := w.coll.InsertOne(w.ctx, doc("_id", 0))
				w.must(err)
				err = c.fails(w)
				if err == nil || typeOf(err) != c.concrete {
					t.Errorf("error %T: %v", err, err)
				}
				if c.sentinel != nil && err != c.sentinel { //nolint:errorlint // programs compare with ==
					t.Errorf("error %v, want the value %v", err, c.sentinel)
				}
				if got := mongo.ErrorCodes(err); !slices.Equal(got, c.codes) {
					t.Errorf("codes %v, want %v", got, c.codes)
				}
				if mongo.IsDuplicateKeyError(err) != slices.Contains(c.codes, 11000) && c.concrete != "ClientBulkWriteException" {
					t.Errorf("IsDuplicateKeyError is wrong about %v", err)
				}
			}, mongotest.Version("8.0"))
		})
	}
}

// The official functions find labels and codes in an error with the history of several attempts.
func TestTheOfficialFunctionsKnowErrorsWithAHistory(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.coll.InsertOne(w.ctx, doc("_id", 0))
		w.must(err)
		for name, c := range map[string]struct {
			faults []mongotest.Fault
			is     func(error) bool
		}{
			"IsDuplicateKeyError": {[]mongotest.Fault{refuse(91, "RetryableWriteError")}, official.IsDuplicateKeyError},
			"IsNetworkError":      {[]mongotest.Fault{loseRequest, loseRequest}, official.IsNetworkError},
			"ErrorCodes": {
				[]mongotest.Fault{refuse(91, "RetryableWriteError"), refuse(91, "RetryableWriteError")},
				func(err error) bool { return slices.Equal(official.ErrorCodes(err), []int{91}) },
			},
		} {
			w.script("insert", c.faults...)
			_, err := w.coll.InsertMany(w.ctx, []d{doc("_id", 0)})
			if err == nil || !c.is(err) {
				t.Errorf("%s is false for %T: %v", name, err, err)
			}
		}
		w.script("insert", mongotest.Fault{Delay: 1 << 40})
		ctx, cancel := context.WithTimeout(w.ctx, 1<<30)
		defer cancel()
		if _, err := w.coll.InsertOne(ctx, doc("_id", 1)); !official.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("IsTimeout is false for %v", err)
		}
	})
}

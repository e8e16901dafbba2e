package mongo_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

var (
	someError    = mongo.WriteError{Index: 1, Code: 11000, Message: "E11000 x", Raw: bson.Raw{5, 0, 0, 0, 0}}
	someConcern  = mongo.WriteConcernError{Name: "N", Code: 64, Message: "waiting"}
	someBulk     = []mongo.BulkWriteError{{WriteError: someError}, {WriteError: someError, Request: mongo.NewInsertOneModel()}}
	someLabels   = []string{"a", "b"}
	ourWrite     = mongo.WriteException{WriteConcernError: &someConcern, WriteErrors: mongo.WriteErrors{someError}, Labels: someLabels, Raw: bson.Raw{5, 0, 0, 0, 0}}
	theirWrite   = official.WriteException{WriteConcernError: &someConcern, WriteErrors: mongo.WriteErrors{someError}, Labels: someLabels, Raw: bson.Raw{5, 0, 0, 0, 0}}
	ourBulk      = mongo.BulkWriteException{WriteConcernError: &someConcern, WriteErrors: someBulk, Labels: someLabels}
	theirBulk    = official.BulkWriteException{WriteConcernError: &someConcern, WriteErrors: someBulk, Labels: someLabels}
	ourClients   = mongo.ClientBulkWriteException{WriteError: &someError, WriteConcernErrors: []mongo.WriteConcernError{someConcern}, WriteErrors: map[int]mongo.WriteError{3: someError}, PartialResult: &mongo.ClientBulkWriteResult{InsertedCount: 2}}
	theirClients = official.ClientBulkWriteException{WriteError: &someError, WriteConcernErrors: []mongo.WriteConcernError{someConcern}, WriteErrors: map[int]mongo.WriteError{3: someError}, PartialResult: &mongo.ClientBulkWriteResult{InsertedCount: 2}}
)

// Our types print, encode and answer as the official ones, also their zero values.
func TestTheExceptionsAreAsTheOfficialOnes(t *testing.T) {
	for _, c := range []struct{ ours, official error }{
		{ourWrite, theirWrite},
		{mongo.WriteException{}, official.WriteException{}},
		{ourBulk, theirBulk},
		{mongo.BulkWriteException{}, official.BulkWriteException{}},
		{ourClients, theirClients},
		{mongo.ClientBulkWriteException{}, official.ClientBulkWriteException{}},
	} {
		if c.ours.Error() != c.official.Error() {
			t.Errorf("%T prints %v, want %v", c.ours, c.ours, c.official)
		}
		for name, encode := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "BSON": bson.Marshal} {
			ours, ourErr := encode(c.ours)
			theirs, theirErr := encode(c.official)
			if string(ours) != string(theirs) || (ourErr == nil) != (theirErr == nil) {
				t.Errorf("%T in %s: %s, %v; want %s, %v", c.ours, name, ours, ourErr, theirs, theirErr)
			}
		}
		compareMethods(t, c.ours, c.official)
		found := reflect.New(reflect.TypeOf(c.official))
		if !errors.As(c.ours, found.Interface()) || !reflect.DeepEqual(found.Elem().Interface(), c.official) {
			t.Errorf("%T: errors.As finds %+v, want %+v", c.ours, found.Elem(), c.official)
		}
		if other := new(official.CommandError); errors.As(c.ours, other) || errors.Unwrap(c.ours) != nil {
			t.Errorf("%T holds another error", c.ours)
		}
	}
}

// compareMethods compares the results of all methods of the official type.
func compareMethods(t *testing.T, ours, theirs error) {
	t.Helper()
	arguments := map[reflect.Kind][]reflect.Value{
		reflect.Int:    {reflect.ValueOf(11000), reflect.ValueOf(64), reflect.ValueOf(1)},
		reflect.String: {reflect.ValueOf("E11000"), reflect.ValueOf("waiting"), reflect.ValueOf("a"), reflect.ValueOf("nothing")},
	}
	of := reflect.TypeOf(theirs)
	for i := range of.NumMethod() {
		name := of.Method(i).Name
		signature := reflect.ValueOf(theirs).MethodByName(name).Type()
		calls := [][]reflect.Value{nil}
		for p := range signature.NumIn() {
			var longer [][]reflect.Value
			for _, before := range calls {
				for _, argument := range arguments[signature.In(p).Kind()] {
					longer = append(longer, append(before[:len(before):len(before)], argument))
				}
			}
			calls = longer
		}
		if len(calls) == 0 {
			t.Fatalf("%s has a parameter of a kind that this test does not know", name)
		}
		for _, call := range calls {
			want := reflect.ValueOf(theirs).MethodByName(name).Call(call)[0].Interface()
			if got := reflect.ValueOf(ours).MethodByName(name).Call(call)[0].Interface(); !reflect.DeepEqual(got, want) {
				t.Errorf("%T.%s%v is %v, want %v", ours, name, call, got, want)
			}
		}
	}
}

// The error inside the history has none itself, so that it ends. The text tells the history after two attempts, and not after one.
func TestTheHistoryOfAnException(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.coll.InsertOne(w.ctx, doc("_id", 0))
		w.must(err)
		for _, c := range []struct {
			name, command string
			insert        func() error
		}{
			{"InsertOne", "insert", func() error { _, err := w.coll.InsertOne(w.ctx, doc("_id", 0)); return err }},
			{"InsertMany", "insert", func() error { _, err := w.coll.InsertMany(w.ctx, []d{doc("_id", 0)}); return err }},
		} {
			for attempts := 1; attempts <= 2; attempts++ {
				w.script(c.command, []mongotest.Fault{loseRequest}[:attempts-1]...)
				err := c.insert()
				var history *retry.Error
				if !errors.As(err, &history) || history.Total != attempts {
					t.Errorf("%s after %d attempts: %v", c.name, attempts, err)
					continue
				}
				if tells := strings.Contains(err.Error(), history.History()); tells != (attempts == 2) {
					t.Errorf("%s after %d attempts prints %v", c.name, attempts, err)
				}
				if inner := new(retry.Error); errors.As(history.Last().Err, &inner) {
					t.Errorf("%s: the error of the last attempt has a history", c.name)
				}
			}
		}
	})
}

package mongo_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// numbered is a document of the tests of All.
type numbered struct {
	N    int
	Note string `bson:"note,omitempty"`
}

// fiveNumbers opens a cursor for the documents 0 to 4, in batches of two.
func (w *world) fiveNumbers() *mongo.Cursor {
	w.Helper()
	if n, err := w.coll.InsertMany(w.ctx, []numbered{{N: 0}, {N: 1}, {N: 2}, {N: 3}, {N: 4}}); err != nil || len(n.InsertedIDs) != 5 {
		w.Fatal(n, err)
	}
	cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2).SetProjection(doc("_id", 0)).SetSort(doc("n", 1)))
	w.must(err)
	return cursor
}

func TestAllAcceptsAPointerToASlice(t *testing.T) {
	full := []numbered{{N: 0}, {N: 1}, {N: 2}, {N: 3}, {N: 4}}
	for _, c := range []struct {
		name    string
		results any
		want    any // the value that results points to; nil means an error
	}{
		{"a nil slice", new([]numbered), full},
		{"a longer slice is cut", &[]numbered{5: {N: 9}}, full},
		{
			"an existing element keeps the fields that the document does not have", &[]numbered{{Note: "old"}},
			[]numbered{{Note: "old"}, {N: 1}, {N: 2}, {N: 3}, {N: 4}},
		},
		{"a slice in an interface", pointerTo[any]([]numbered{}), full},
		{
			"a slice of documents", pointerTo[any]([]bson.M(nil)),
			[]bson.M{{"n": int32(0)}, {"n": int32(1)}, {"n": int32(2)}, {"n": int32(3)}, {"n": int32(4)}},
		},
		{"a slice of pointers", new([]*numbered), []*numbered{{N: 0}, {N: 1}, {N: 2}, {N: 3}, {N: 4}}},
		{"a slice", []numbered{}, nil},
		{"a nil pointer", (*[]numbered)(nil), nil},
		{"a nil interface", new(any), nil},
		{"another value in an interface", pointerTo[any](7), nil},
		{"a pointer to a struct", new(numbered), nil},
		{"nil", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				err := w.fiveNumbers().All(w.ctx, c.results)
				if c.want == nil {
					if err == nil {
						t.Error("it is accepted")
					}
					return
				}
				w.must(err)
				got := reflect.ValueOf(c.results).Elem().Interface()
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

func pointerTo[T any](v T) *T { return &v }

func TestAllAndNextAcceptANilContext(t *testing.T) {
	in(t, nil, func(w *world) {
		cursor := w.fiveNumbers()
		if !cursor.Next(nil) || !cursor.TryNext(nil) { //nolint:staticcheck // the official driver accepts it
			t.Fatal(cursor.Err())
		}
		var rest []numbered
		w.must(cursor.All(nil, &rest))     //nolint:staticcheck // the official driver accepts it
		w.must(w.fiveNumbers().Close(nil)) //nolint:staticcheck // the official driver accepts it
		if len(rest) != 3 {
			t.Errorf("%+v", rest)
		}
	})
}

func TestAfterAnErrorAllDoesNotReplaceTheSlice(t *testing.T) {
	in(t, nil, func(w *world) {
		w.script("getMore", refuse(43))
		results := []numbered{}
		if err := w.fiveNumbers().All(w.ctx, &results); err == nil || len(results) != 0 {
			t.Errorf("%+v, %v", results, err)
		}
	})
}

// Source: a context's deadline limits the whole call, also the end of it.
func TestAllEndsWithItsContext(t *testing.T) {
	for _, c := range []struct {
		name    string
		command string // that is never answered
	}{{"the getMore is not answered", "getMore"}, {"no command is answered", ""}} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				cursor := w.fiveNumbers()
				silent := mongotest.Always(mongotest.Fault{LoseReply: true, Silent: true})
				for _, command := range []string{"getMore", "killCursors", "hello"} {
					if c.command == "" || c.command == command {
						defer w.set.Use(command, silent)()
					}
				}
				ctx, cancel := context.WithTimeout(w.ctx, 2*time.Second)
				defer cancel()
				start := time.Now()
				err := cursor.All(ctx, new([]numbered))
				if took := time.Since(start); err == nil || took > 2*time.Second+150*time.Millisecond {
					t.Errorf("after %v: %v", took, err)
				}
				if !mongo.IsTimeout(err) {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}

// The server is dead when All closes the cursor: only the context can end this.
func TestAllEndsWithItsContextIfOnlyTheCloseIsNotAnswered(t *testing.T) {
	in(t, nil, func(w *world) {
		cursor := w.fiveNumbers()
		w.script("killCursors", mongotest.Fault{LoseReply: true, Silent: true})
		ctx, cancel := context.WithTimeout(w.ctx, 2*time.Second)
		defer cancel()
		start := time.Now()
		if err := cursor.All(ctx, new([]int)); err == nil {
			t.Error("documents were decoded into numbers")
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("All took %v", took)
		}
	})
}

func TestTryNextReturnsADocumentOfTheBatchThatItGot(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.set.Insert("test.c", doc("_id", 1), doc("_id", 2), doc("_id", 3)))
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
		w.must(err)
		for i := range 3 {
			if !cursor.TryNext(w.ctx) {
				t.Errorf("no document %d: %v", i, cursor.Err())
			}
		}
		w.must(cursor.Close(w.ctx))
	})
}

// The reply of a command may have a cursor beside its write concern error. Then there is no cursor for the application.
func TestACommandThatFailsLeavesNoSessionOfItsCursor(t *testing.T) {
	in(t, nil, func(w *world) {
		w.heal = w.set.Use("find", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("cursor", doc("id", int64(7), "ns", "test.c", "firstBatch", bson.A{}),
				"writeConcernError", doc("code", 64, "errmsg", "scripted")))
		})
		_, err := w.client.Database("test").RunCommandCursor(w.ctx, doc("find", "c"))
		if err == nil {
			t.Error("there is no error")
		}
		if n := w.client.NumberSessionsInProgress(); n != 0 {
			t.Errorf("%d sessions are in use", n)
		}
	})
}

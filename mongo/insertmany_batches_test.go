package mongo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// sized returns n documents of about size bytes with the _ids 0 to n-1.
func sized(n, size int) []any {
	documents := make([]any, n)
	for i := range documents {
		documents[i] = doc("_id", i, "pad", strings.Repeat("x", size))
	}
	return documents
}

// fiveDocuments are sent in two batches, of three and two, to the servers of smallMessages.
func fiveDocuments() []any { return sized(5, 1000) }

// smallMessages returns a replica set whose maxMessageSizeBytes has room for three documents.
func smallMessages() (*mongotest.Deployment, error) { return smallMessagesWith() }

func smallMessagesWith(opts ...mongotest.Option) (*mongotest.Deployment, error) {
	set, err := mongotest.RunReplicaSet(3, append(opts, mongotest.InMemory())...)
	if err == nil {
		set.Use("hello", showLimit("maxMessageSizeBytes", 16<<10+3500, 0))
	}
	return set, err
}

// showLimit makes the hellos of all connections except the first few show another limit.
func showLimit(field string, limit int32, except int64) mongotest.Middleware {
	var connections atomic.Int64
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		reply := next(r)
		if reply == nil {
			return nil
		}
		_, err := r.Body.LookupErr("client") // the first hello of a connection has this field
		if except > 0 && (err != nil || connections.Add(1) <= except) {
			return reply
		}
		var hello bson.D
		if err := bson.Unmarshal(reply.Body, &hello); err != nil {
			return &mongotest.Reply{Error: &mongotest.CommandError{Code: 1, Message: err.Error()}}
		}
		for i := range hello {
			if hello[i].Key == field {
				hello[i].Value = limit
			}
		}
		reply.Body, _ = bson.Marshal(hello)
		return reply
	}
}

func bulk(t *testing.T, err error) mongo.BulkWriteException {
	t.Helper()
	var e mongo.BulkWriteException
	if !errors.As(err, &e) {
		t.Fatalf("error: %v", err)
	}
	return e
}

func indexes(e mongo.BulkWriteException) []int {
	var at []int
	for _, we := range e.WriteErrors {
		at = append(at, we.Index)
	}
	return at
}

// Client Side Operations Timeout: timeoutMS is for the whole operation.
func TestTheClientsTimeoutIsForAllBatches(t *testing.T) {
	inside(t, smallMessages, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
		w.must(w.client.Ping(w.ctx, nil)) // the limits of the servers are known
		w.heal = w.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: 700 * time.Millisecond}))
		began := time.Now()
		r, err := w.coll.InsertMany(w.ctx, fiveDocuments())
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if n := len(w.started("insert")); n != 2 || r == nil || len(r.InsertedIDs) != 3 {
			t.Errorf("%d commands, result %v", n, r)
		}
	})
}

// A document over the limit fails alone. The server refuses the same documents, with the same code.
func TestInsertManyWithDocumentsThatAreTooLarge(t *testing.T) {
	const over = 16 << 20
	for _, c := range []struct {
		name     string
		ordered  bool
		sizes    []int
		failed   []int
		inserted []any
	}{
		{"the first, ordered", true, []int{over, 1}, []int{0}, []any{}},
		{"the second, ordered", true, []int{1, over, 1}, []int{1}, []any{int32(0)}},
		{"the second, unordered", false, []int{1, over, 1}, []int{1}, []any{int32(0), int32(2)}},
		{"the last, unordered", false, []int{1, 1, over}, []int{2}, []any{int32(0), int32(1)}},
		{"all, unordered", false, []int{over, over}, []int{0, 1}, []any{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				var documents []any
				for i, size := range c.sizes {
					documents = append(documents, doc("_id", int32(i), "pad", strings.Repeat("x", size)))
				}
				r, err := w.coll.InsertMany(w.ctx, documents, options.InsertMany().SetOrdered(c.ordered))
				e := bulk(t, err)
				if got := indexes(e); !slices.Equal(got, c.failed) || e.WriteErrors[0].Code != 10334 || e.WriteErrors[0].Request == nil {
					t.Errorf("write errors at %v, want %v: %v", got, c.failed, err)
				}
				if !slices.Equal(r.InsertedIDs, c.inserted) || w.applied("insert") != len(c.inserted) {
					t.Errorf("inserted %v, want %v", r.InsertedIDs, c.inserted)
				}
			})
		})
	}
}

// The documents are divided by the limit that is known. The connection may show that a server has a smaller one.
func TestInsertManyOnAServerWithASmallerLimit(t *testing.T) {
	inside(t, func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
		if err == nil {
			set.Use("hello", showLimit("maxBsonObjectSize", 1000, 1))
		}
		return set, err
	}, nil, func(w *world) {
		w.pass(time.Second) // the monitor has made the first handshake
		documents := sized(5, 10)
		documents[3] = doc("_id", 3, "pad", strings.Repeat("x", 1000))
		documents[4] = doc("_id", 4, "pad", strings.Repeat("x", 976))
		if b, err := bson.Marshal(documents[4]); err != nil || len(b) != 1000 {
			t.Fatalf("the document that fits just so has %d bytes: %v", len(b), err)
		}
		r, err := w.coll.InsertMany(w.ctx, documents, options.InsertMany().SetOrdered(false))
		if got := indexes(bulk(t, err)); !slices.Equal(got, []int{3}) || len(r.InsertedIDs) != 4 || w.applied("insert") != 4 {
			t.Errorf("%v, inserted %v", err, r.InsertedIDs)
		}
		_, err = w.coll.InsertOne(w.ctx, doc("pad", strings.Repeat("x", 1000)))
		var e mongo.WriteException
		if !errors.As(err, &e) || !e.HasErrorCode(10334) || e.WriteErrors[0].Index != 0 {
			t.Errorf("InsertOne: %v", err)
		}
	})
}

// The retry of a batch may end with write errors. Then the batch has not failed, but the error has its history.
func TestInsertManyWhoseRetryEndsWithWriteErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		ordered  bool
		commands int
		inserted int
	}{
		{"ordered: the other documents are not sent", true, 2, 0},
		{"unordered: the other documents are inserted", false, 3, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside(t, smallMessages, nil, func(w *world) {
				_, err := w.coll.InsertOne(w.ctx, doc("_id", 0))
				w.must(err)
				w.forget()
				w.script("insert", refuse(91, "RetryableWriteError"))
				r, err := w.coll.InsertMany(w.ctx, fiveDocuments(), options.InsertMany().SetOrdered(c.ordered))
				e := bulk(t, err)
				var history *retry.Error
				if !errors.As(err, &history) || len(history.Attempts) != 2 || !slices.Equal(indexes(e), []int{0}) || !mongo.IsDuplicateKeyError(err) {
					t.Errorf("error: %v", err)
				}
				if n := len(w.started("insert")); n != c.commands || len(r.InsertedIDs) != c.inserted {
					t.Errorf("%d commands, inserted %v", n, r.InsertedIDs)
				}
			})
		})
	}
}

package mongo_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A write concern error that allows no retry leaves the bulk to go on, also if it comes with the reply of a retry: what the first attempt met
// is not the outcome of the command. One that allows a retry, and that the retry meets too, ends it.
func TestABulkGoesOnAfterAWriteConcernErrorOfARetry(t *testing.T) {
	const total = 2*maxBatch + 50 // three commands
	documents := make([]any, total)
	for i := range documents {
		documents[i] = doc("n", i)
	}
	labelled := []any{"errorLabels", bson.A{"RetryableWriteError"}}
	for _, way := range []struct {
		command string
		do      func(ctx context.Context, w *world) (int64, error)
	}{
		{"insert", func(ctx context.Context, w *world) (int64, error) {
			r, err := w.coll.InsertMany(ctx, documents)
			return int64(len(r.InsertedIDs)), err
		}},
		{"bulkWrite", func(ctx context.Context, w *world) (int64, error) {
			r, err := w.client.BulkWrite(ctx, repeated(total, doc("a", "b")))
			return r.InsertedCount, err
		}},
	} {
		for _, c := range []struct {
			name        string
			first, then []any // the replies to the second command
			lost        bool
			commands    int
			stops       bool
			configure   func(*options.ClientOptions)
		}{
			{"a lost reply, then 64", nil, []any{64}, true, 4, false, nil},
			{"91, then 64", append([]any{91}, labelled...), []any{64}, false, 4, false, nil},
			{"64 at once", []any{64}, nil, false, 3, false, nil},
			{"91, then 91", append([]any{91}, labelled...), append([]any{91}, labelled...), false, 3, true, nil},
			{"91 without retries", append([]any{91}, labelled...), nil, false, 3, false, func(o *options.ClientOptions) { o.SetRetryWrites(false) }},
		} {
			t.Run(way.command+": "+c.name, func(t *testing.T) {
				inVersion8(t, c.configure, func(w *world) {
					sent := 0
					w.heal = w.set.Use(way.command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
						reply := next(r)
						switch sent++; {
						case sent == 2 && c.lost:
							reply.Lost = true
						case sent == 2:
							return w.concerned(reply, c.first)
						case sent == 3 && c.then != nil:
							return w.concerned(reply, c.then)
						}
						return reply
					})
					inserted, err := way.do(w.ctx, w)
					if err == nil || sent != c.commands {
						t.Errorf("%d commands, %v", sent, err)
					}
					if (inserted == total) == c.stops {
						t.Errorf("%d of %d documents: %v", inserted, total, err)
					}
				})
			})
		}
	}
}

// concerned returns a reply with a write concern error: its code, then other fields of the reply.
func (w *world) concerned(reply *mongotest.Reply, fields []any) *mongotest.Reply {
	w.Helper()
	var have d
	w.must(bson.Unmarshal(reply.Body, &have))
	have = append(have, e{Key: "writeConcernError", Value: doc("code", fields[0], "errmsg", fmt.Sprint("scripted ", fields[0]))})
	return mongotest.NewReply(append(have, doc(fields[1:]...)...))
}

// Of several commands with errors, the history is that of the first one that tells something: here the second one, which was tried again.
func TestTheHistoryOfABulkIsOfTheCommandThatWasTriedAgain(t *testing.T) {
	inVersion8(t, nil, func(w *world) {
		documents := make([]any, maxBatch+1) // two commands
		for i := range documents {
			documents[i] = doc("n", i)
		}
		sent := 0
		w.heal = w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			if sent++; sent == 2 {
				reply.Lost = true
				return reply
			}
			return w.concerned(reply, []any{64})
		})
		_, err := w.coll.InsertMany(w.ctx, documents)
		if history := w.historyOf(err); history.Total != 2 || sent != 3 {
			t.Errorf("%d commands, %d attempts: %v", sent, history.Total, err)
		}
	})
}

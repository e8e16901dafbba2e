package mongo_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Client-Side Operations Timeout, "Non-tailable Cursors": one context for the find and all calls of Next is a time limit
// of the cursor's life. "Next MUST return documents of a batch that was received even if the timeout has expired".
func TestOneContextLimitsTheLifeOfACursor(t *testing.T) {
	in(t, nil, func(w *world) {
		w.insert(1, 2, 3)
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		cursor, err := w.coll.Find(ctx, d{}, options.Find().SetBatchSize(2))
		w.must(err)
		w.pass(2 * time.Second)
		for i := range 2 {
			if !cursor.Next(ctx) {
				t.Errorf("document %d of the batch: %v", i, cursor.Err())
			}
		}
		if cursor.Next(ctx) || !mongo.IsTimeout(cursor.Err()) || len(w.started("getMore")) != 0 {
			t.Errorf("%d getMore were sent: %v", len(w.started("getMore")), cursor.Err())
		}
		w.must(cursor.Close(w.ctx)) // the context of Close is another one ("Cursor close() methods refresh timeoutMS")
		if n := len(w.started("killCursors")); n != 1 {
			t.Errorf("%d killCursors were sent", n)
		}
	})
}

// "timeoutMode: iteration": a context for each call.
func TestAContextForEachCallOfNextIsATimeLimitOfTheCall(t *testing.T) {
	in(t, nil, func(w *world) {
		w.insert(1, 2, 3)
		first, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		cursor, err := w.coll.Find(first, d{}, options.Find().SetBatchSize(2))
		w.must(err)
		w.pass(2 * time.Second)
		for range 3 {
			ctx, cancel := context.WithTimeout(w.ctx, time.Second)
			defer cancel()
			if !cursor.Next(ctx) {
				t.Error(cursor.Err())
			}
		}
		if sent := w.started("getMore"); len(sent) != 1 || !sent[0].Command.Lookup("maxTimeMS").IsZero() {
			t.Errorf("the requests are %v", sent)
		}
	})
}

// timeoutMS 0 of one operation: a context whose deadline is years away. The client's own timeout does not count, and no limit is sent.
func TestAContextWithADistantDeadlineReplacesTheClientsTimeout(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
		w.seed()
		w.must(findOne(w))
		w.forget()
		w.script("find", loseReply, loseReply, mongotest.Fault{Delay: 5 * time.Second})
		ctx, cancel := context.WithTimeout(w.ctx, 10*365*24*time.Hour)
		defer cancel()
		w.must(w.coll.FindOne(ctx, d{}).Err())
		sent := w.started("find")
		if len(sent) != 3 {
			t.Errorf("%d commands were sent", len(sent))
		}
		for _, ev := range sent {
			if v := ev.Command.Lookup("maxTimeMS"); !v.IsZero() {
				t.Errorf("maxTimeMS is %v", v)
			}
		}
	})
}

package mongo_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A session whose transaction has not started, or has ended, does not change the write concern of an operation.
func TestTheWriteConcernInASessionWithoutATransaction(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		unacknowledged := w.coll.Clone(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		for _, when := range []string{"before", "after"} {
			if _, err := unacknowledged.InsertOne(ctx, doc()); err == nil {
				t.Errorf("%s the transaction: an unacknowledged write in a session is not refused", when)
			}
			writes := []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(doc())}}
			if _, err := w.client.BulkWrite(ctx, writes, options.ClientBulkWrite().SetWriteConcern(writeconcern.Majority())); err != nil {
				t.Errorf("%s the transaction: %v", when, err)
			}
			w.must(s.StartTransaction())
			if result, err := unacknowledged.InsertOne(ctx, doc()); err != nil || !result.Acknowledged {
				t.Errorf("in the transaction: %+v, %v", result, err)
			}
			w.must(s.CommitTransaction(ctx))
		}
	}, mongotest.Version("8.0"))
}

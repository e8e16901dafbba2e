package mongo_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestDecodeOfAClosedStreamIsErrNilCursor(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1, 2) // the second event is never read
		w.expect(s, 1)
		var event bson.D
		w.must(s.Decode(&event))
		w.must(s.Close(w.ctx))
		event = nil
		if err := s.Decode(&event); !errors.Is(err, mongo.ErrNilCursor) || event != nil {
			t.Errorf("Decode returned %v and %v", err, event)
		}
		if s.Current == nil || s.Next(w.ctx) || s.Err() != nil {
			t.Errorf("the current event is %s, the error %v", s.Current, s.Err())
		}
	})
}

func TestCloseKeepsTheErrorOfAnEventWithoutAResumeToken(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.set.Use("getMore", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("cursor", doc("id", s.ID(), "ns", "test.c", "nextBatch", bson.A{doc("operationType", "insert")})))
		})
		if s.Next(w.ctx) || !errors.Is(s.Err(), mongo.ErrMissingResumeToken) {
			t.Errorf("the error is %v", s.Err())
		}
		w.must(s.Close(w.ctx))
		if !errors.Is(s.Err(), mongo.ErrMissingResumeToken) || s.ID() != 0 {
			t.Errorf("after Close the error is %v, the id %d", s.Err(), s.ID())
		}
	})
}

// The stream is closed by the error, so its session can be used again at once.
func TestAnEventWithoutAResumeTokenEndsTheSession(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.set.Use("getMore", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("cursor", doc("id", s.ID(), "ns", "test.c", "nextBatch", bson.A{doc("operationType", "insert")})))
		})
		if s.Next(w.ctx) || !errors.Is(s.Err(), mongo.ErrMissingResumeToken) {
			t.Errorf("the error is %v", s.Err())
		}
		if n := w.client.NumberSessionsInProgress(); n != 0 {
			t.Errorf("%d sessions are in use", n)
		}
	})
}

package operation

import (
	"errors"
	"strings"
	"testing"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongotest"
)

// An application may keep the error of a commit. The next reply on the connection is read into the same buffer.
func TestTheReplyInTheErrorOfACommitStaysWhatItIs(t *testing.T) {
	in(t, func(w *world) {
		s := w.runner.StartSession(SessionOptions{})
		defer s.End()
		w.must(s.StartTransaction(TransactionOptions{}))
		w.insert(1, s)
		w.set.Use("commitTransaction", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 1, "writeConcernError", doc("code", 64, "errmsg", "the first reply")))
		})
		o, err := s.Commit()
		w.must(err)
		o.Selection = op(Write, constant("ping", 1)).Selection
		var failed official.CommandError
		if err := w.runner.Run(w.Context(), o); !errors.As(err, &failed) || failed.Message != "the first reply" {
			t.Fatalf("the commit: %v", err)
		}
		before := failed.Raw.String()
		w.must(w.runner.Run(w.Context(), op(Generic, constant("hello", 1)))) // has a longer reply
		if after := failed.Raw.String(); after != before || !strings.Contains(before, "the first reply") {
			t.Errorf("the error had the reply %s, and has now %s", before, after)
		}
	})
}

package operation

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The bulkWrite command has the sequences ops and nsInfo.
func TestACommandMayHaveTwoDocumentSequences(t *testing.T) {
	in(t, func(w *world) {
		var ops, namespaces []byte
		for i := range 3 {
			ops = append(ops, marshal(t, doc("insert", i%2, "document", doc("_id", i)))...)
		}
		for _, ns := range []string{"test.a", "test.b"} {
			namespaces = append(namespaces, marshal(t, doc("ns", ns))...)
		}
		bulk := constant("bulkWrite", 1)
		bulk.sequences = []wire.Sequence{
			{Identifier: []byte("ops"), Documents: ops}, {Identifier: []byte("nsInfo"), Documents: namespaces},
		}
		o := op(Write, bulk)
		o.Database, o.ReadConcern = "admin", nil
		w.must(w.runner.Run(w.Context(), o))
		if n := bulk.reply.Lookup("nInserted").AsInt64(); n != 3 {
			t.Errorf("%d documents were inserted, want 3", n)
		}
		for ns, want := range map[string]int{"test.a": 2, "test.b": 1} {
			w.set.CheckCount(t, ns, want)
		}
		shown, err := w.last("nsInfo").Array().Values()
		if err != nil || len(shown) != 2 {
			t.Errorf("the listener got the command %v", w.sent[len(w.sent)-1])
		}
	}, mongotest.Version("8.0"))
}

// Transactions specification: a retried commitTransaction has the write concern majority.
func TestACommandIsWrittenWithTheNumberOfItsAttempt(t *testing.T) {
	in(t, func(w *world) {
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		o := op(Write, &command{write: func(a Attempt) bson.D {
			d := doc("insert", "c", "documents", bson.A{doc("_id", 1)})
			if a.Number > 0 {
				d = append(d, doc("writeConcern", doc("w", "majority"))...)
			}
			return d
		}})
		o.ReadConcern = nil
		w.must(w.runner.Run(w.Context(), o))
		n := len(w.sent)
		if v := w.sent[n-2].Lookup("writeConcern"); !v.IsZero() {
			t.Errorf("the first attempt has the write concern %v", v)
		}
		if v, ok := w.last("writeConcern", "w").StringValueOK(); !ok || v != "majority" {
			t.Errorf("the second attempt has the write concern %v", w.last("writeConcern"))
		}
	})
}

func TestMaxTimeMSIsNotAddedWithOwnTimeLimit(t *testing.T) {
	in(t, func(w *world) {
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		for _, own := range []bool{false, true} {
			o := op(Read, constant("find", "c"))
			o.OwnTimeLimit = own
			w.must(w.runner.Run(ctx, o))
			if sent := !w.last("maxTimeMS").IsZero(); sent == own {
				t.Errorf("own time limit %v: maxTimeMS %v", own, w.last("maxTimeMS"))
			}
		}
	})
}

func TestAReplyKeepsTheTimesAndTokensForLaterOperations(t *testing.T) {
	r := parsed(t, doc(
		"ok", 1, "operationTime", bson.Timestamp{T: 3, I: 4}, "recoveryToken", doc("recoveryShardId", "s"),
		"atClusterTime", bson.Timestamp{T: 5}, "cursor", doc(
			"id", int64(9), "ns", "db.$cmd.aggregate", "firstBatch", bson.A{doc("a", 1)}, "postBatchResumeToken", doc("_data", "x"),
			"atClusterTime", bson.Timestamp{T: 6})))
	c, err := r.ReadCursor()
	if err != nil || c.ID != 9 || string(c.Namespace) != "db.$cmd.aggregate" || c.Batch == nil ||
		bson.Raw(c.ResumeToken).String() != `{"_data": "x"}` {
		t.Errorf("the cursor is %+v, %v", c, err)
	}
	if r.OperationTime != 3<<32|4 || bson.Raw(r.RecoveryToken).String() != `{"recoveryShardId": "s"}` || r.snapshotTime() != 5<<32 {
		t.Errorf("the reply is %+v", r)
	}
	inCursor := parsed(t, doc("ok", 1, "cursor", doc("id", int64(0), "nextBatch", bson.A{}, "atClusterTime", bson.Timestamp{T: 6})))
	if inCursor.snapshotTime() != 6<<32 {
		t.Errorf("the cursor's time is %d", inCursor.snapshotTime())
	}
	s := &Session{explicit: true}
	s.advance(r)
	s.advance(parsed(t, doc("ok", 1, "operationTime", bson.Timestamp{T: 2})))
	if s.operationTime != 3<<32|4 || bson.Raw(s.transaction.recoveryToken).String() != `{"recoveryShardId": "s"}` {
		t.Errorf("the session is %+v", s)
	}
}

func TestAReplyWithoutACursorOrABatchIsAnError(t *testing.T) {
	for name, reply := range map[string]bson.D{
		"no cursor": doc("ok", 1), "no batch": doc("ok", 1, "cursor", doc("id", int64(1))),
		"a batch that is not an array": doc("ok", 1, "cursor", doc("firstBatch", "x")), "a cursor that is not a document": doc("ok", 1, "cursor", 1),
	} {
		if _, err := parsed(t, reply).ReadCursor(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
